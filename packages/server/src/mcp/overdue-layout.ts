import { RelayError } from '../kernel/errors.ts'

/** A layout took longer than a call may take. It would again, since the same call is the same work. [DIAG-17] */
export class OverdueLayout extends RelayError {
  constructor() {
    super('UNAVAILABLE', 'The diagram could not be laid out in time.')
  }
}
