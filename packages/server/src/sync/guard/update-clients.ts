import { BadBytes, GuardReader } from './guard-reader.ts'
import { UpdateTable } from './guard-table.ts'

/** Returns the Y clients whose structs an update contains. Stops without error at bytes that cannot be read. */
export function clientsOfUpdate(update: Uint8Array): readonly number[] {
  const table = new UpdateTable()
  readAsFarAsPossible(() => table.read(update, Number.POSITIVE_INFINITY))
  return table.blockClient
}

/** Returns the Y clients that a state vector names. Stops without error at bytes that cannot be read. */
export function clientsOfVector(vector: Uint8Array): readonly number[] {
  const reader = new GuardReader()
  reader.reset(vector)
  const clients: number[] = []
  readAsFarAsPossible(() => {
    for (let left = reader.count(2); left > 0; left--) {
      clients.push(reader.uint())
      reader.uint()
    }
  })
  return clients
}

function readAsFarAsPossible(read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof BadBytes)) throw error
  }
}
