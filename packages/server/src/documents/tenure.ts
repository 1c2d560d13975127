/** One start of one node: a number of the database, never used again. [LIFE-26] */
export type Incarnation = number

/** Who may add to the log of a document, and since which acquisition. `epoch` counts the acquisitions of one document. [LIFE-26] */
export interface Tenure {
  readonly owner: Incarnation
  readonly epoch: number
}
