/** Why the relay does not start, with what the operator can do about it as a text of its own. [CFG-11] */
export class RefusedStart extends Error {
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.name = 'RefusedStart'
    this.remedy = remedy
  }
}
