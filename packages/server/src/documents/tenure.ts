/** One start of one node: a number that the database gives only once. [LIFE-26] */
export type Incarnation = number

/**
 * The owner of a document and its epoch: who may append to the log. `epoch` counts the acquisitions of one document. [LIFE-26]
 */
export interface Tenure {
  readonly owner: Incarnation
  readonly epoch: number
}
