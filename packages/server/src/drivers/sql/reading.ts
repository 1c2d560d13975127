import { RelayError } from '../../kernel/errors.ts'

/** Runs a read; whatever the engine throws says UNAVAILABLE to the caller and the cause to the log line of that caller. */
export async function reading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof RelayError) throw error
    const unavailable = new RelayError('UNAVAILABLE', 'the store cannot be read')
    unavailable.cause = error
    throw unavailable
  }
}
