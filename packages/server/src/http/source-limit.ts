import { RelayError } from '../kernel/errors.ts'

const MAX_UNAUTHENTICATED = 512

/** Limits how many unauthenticated requests one address may have in progress. [H1] */
export interface SourceLimit {
  /**
   * Counts a request; calling the returned function ends the count. Throws UNAVAILABLE at the limit. A request of an
   * unknown address is not counted.
   */
  enter(address: string | undefined): () => void
}

export function createSourceLimit(): SourceLimit {
  const byAddress = new Map<string, number>()
  return {
    enter(address) {
      if (address === undefined) return () => undefined
      const count = byAddress.get(address) ?? 0
      if (count >= MAX_UNAUTHENTICATED)
        throw new RelayError('UNAVAILABLE', 'Too many requests from this address are waiting to be authenticated.')
      byAddress.set(address, count + 1)
      return () => {
        const left = (byAddress.get(address) ?? 1) - 1
        if (left === 0) byAddress.delete(address)
        else byAddress.set(address, left)
      }
    },
  }
}
