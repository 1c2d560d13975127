import { RelayError } from '../kernel/errors.ts'

/** A layout exceeded the time of a call. Repeating the call would fail too, because the work is the same. [DIAG-17] */
export class OverdueLayout extends RelayError {
  constructor() {
    super('UNAVAILABLE', 'The diagram could not be laid out in time.')
  }
}
