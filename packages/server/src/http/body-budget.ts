import { RelayError } from '../kernel/errors.ts'

const MIB = 1_048_576
const LARGE_BYTES = 16 * MIB
const LARGE_PER_HOLDER = 4
/** Memory reserved for routes that the operator's own services call. */
const INTERNAL_BYTES = 16 * MIB
const VIEWERS_BYTES = 32 * MIB
const MAX_ARRIVING = 1_024

/** Who pays for a body: the writers of a workspace, its viewers, or the operator's own services. */
export type BodyHolder = { readonly kind: 'writers' | 'viewers'; readonly workspaceId: string } | { readonly kind: 'internal' }

/**
 * Limits the memory of request bodies. Bytes count as they arrive; a declared length takes nothing. Each holder has a
 * share. When the process is full, the holder with the most bytes loses its largest arriving body to a holder with
 * less. [H3]
 */
export interface BodyBudget {
  /** Opens the account of one request. Throws UNAVAILABLE when the holder already sends as many bodies as it may. */
  open(holder: BodyHolder): BodyAccount
}

export interface BodyAccount {
  /**
   * Raises the bytes of this request to `bytes`. Throws UNAVAILABLE when the holder's share or the process has no room.
   */
  hold(bytes: number): void
  /** Marks the body as completely received. It counts until `release`, and is no longer dropped for other holders. */
  arrived(): void
  /** Aborted when the body is dropped for another holder. The reason is the UNAVAILABLE to answer. */
  readonly givenUp: AbortSignal
  /** Ends the account; may be called again. */
  release(): void
}

export interface BodyBounds {
  readonly totalBytes: number
  /** Most bytes of one holder. */
  readonly shareBytes: number
}

interface Account {
  bytes: number
  arriving: boolean
  /** The reason, once the body was dropped. */
  dropped: RelayError | null
  /** Created when `givenUp` is first read. */
  abort: AbortController | null
}

interface Holding {
  bytes: number
  large: number
  arriving: number
  readonly accounts: Set<Account>
}

/** Makes the budget. `largestLimitBytes`: the largest body limit of any route; a writer's share always holds such a body. */
export function createBodyBudget(largestLimitBytes: number): BodyBudget {
  const totalBytes = Math.max(512 * MIB, 2 * largestLimitBytes)
  const writers = createPurse({ totalBytes, shareBytes: totalBytes / 2 })
  const viewers = createPurse({ totalBytes: 2 * VIEWERS_BYTES, shareBytes: VIEWERS_BYTES })
  const internal = createPurse({ totalBytes: INTERNAL_BYTES, shareBytes: INTERNAL_BYTES })
  return {
    open(holder) {
      switch (holder.kind) {
        case 'internal':
          return internal.open('')
        case 'viewers':
          return viewers.open(holder.workspaceId)
        case 'writers':
          return writers.open(holder.workspaceId)
      }
    },
  }
}

/** Makes an amount of memory that several holders share. */
export function createPurse({ totalBytes, shareBytes }: BodyBounds): { open(holder: string): BodyAccount } {
  const holdings = new Map<string, Holding>()
  let heldBytes = 0

  const drop = (key: string, holding: Holding, account: Account): void => {
    if (!holding.accounts.delete(account)) return
    heldBytes -= account.bytes
    holding.bytes -= account.bytes
    if (account.bytes > LARGE_BYTES) holding.large--
    if (account.arriving) holding.arriving--
    if (holding.accounts.size === 0) holdings.delete(key)
  }

  /** Drops the largest arriving body of the holder with the most bytes, unless that holder is the one that asks. */
  const giveUpOne = (askerBytes: number): boolean => {
    const [most] = [...holdings].sort(([, a], [, b]) => b.bytes - a.bytes)
    if (most === undefined || most[1].bytes <= askerBytes) return false
    const [key, holding] = most
    const [largest] = [...holding.accounts].filter(({ arriving }) => arriving).sort((a, b) => b.bytes - a.bytes)
    if (largest === undefined) return false
    drop(key, holding, largest)
    largest.dropped = new RelayError(
      'UNAVAILABLE',
      'The relay dropped this request body to make room for workspaces that send less; send it again later.',
    )
    largest.abort?.abort(largest.dropped)
    return true
  }

  const raise = (holding: Holding, account: Account, bytes: number): void => {
    const more = bytes - account.bytes
    const becomesLarge = bytes > LARGE_BYTES && account.bytes <= LARGE_BYTES
    if (becomesLarge && holding.large >= LARGE_PER_HOLDER) {
      throw new RelayError(
        'UNAVAILABLE',
        `The workspace already sends ${LARGE_PER_HOLDER} request bodies above ${LARGE_BYTES} bytes; wait until one has arrived.`,
      )
    }
    if (holding.bytes + more > shareBytes) {
      throw new RelayError('UNAVAILABLE', `The request bodies that the workspace sends at one time exceed ${shareBytes} bytes.`)
    }
    while (heldBytes + more > totalBytes) {
      if (!giveUpOne(holding.bytes + more)) throw new RelayError('UNAVAILABLE', 'Too many request bodies are in flight.')
    }
    if (becomesLarge) holding.large++
    heldBytes += more
    holding.bytes += more
    account.bytes = bytes
  }

  return {
    open(key) {
      const holding = holdings.get(key) ?? { bytes: 0, large: 0, arriving: 0, accounts: new Set<Account>() }
      if (holding.arriving >= MAX_ARRIVING) {
        throw new RelayError(
          'UNAVAILABLE',
          `The workspace already sends ${MAX_ARRIVING} request bodies; wait until one has arrived.`,
        )
      }
      const account: Account = { bytes: 0, arriving: true, dropped: null, abort: null }
      holdings.set(key, holding)
      holding.accounts.add(account)
      holding.arriving++
      return {
        hold(bytes) {
          if (account.dropped !== null) throw account.dropped
          if (bytes > account.bytes) raise(holding, account, bytes)
        },
        arrived() {
          if (account.arriving && holding.accounts.has(account)) holding.arriving--
          account.arriving = false
        },
        get givenUp() {
          account.abort ??= new AbortController()
          if (account.dropped !== null) account.abort.abort(account.dropped)
          return account.abort.signal
        },
        release: () => drop(key, holding, account),
      }
    },
  }
}
