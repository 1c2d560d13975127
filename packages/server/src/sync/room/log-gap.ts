import * as Y from 'yjs'

/**
 * Updates that cannot be applied because they depend on a log record that was lost. An earlier release could store edits after a lost
 * record. The document itself is sound; these updates wait for the missing content. [LIFE-5]
 */
export interface LogGap {
  /** The pending updates as Yjs keeps them, in update format 2. */
  readonly later: readonly Uint8Array[]
  /** By Y client: the first clock whose content is missing. */
  readonly missing: ReadonlyMap<number, number>
}

/** Takes the pending updates out of a document, which is sound afterwards. Returns `null` when none is pending. */
export function takePending({ store }: Y.Doc): LogGap | null {
  const { pendingStructs, pendingDs } = store
  if (pendingStructs === null && pendingDs === null) return null
  store.pendingStructs = null
  store.pendingDs = null
  const waitingFor = [...(pendingStructs?.missing.keys() ?? []), ...(pendingDs === null ? [] : deletedClients(pendingDs))]
  const missing = new Map(waitingFor.map((client) => [client, Y.getState(store, client)]))
  return { later: [pendingStructs?.update, pendingDs].filter((bytes) => bytes instanceof Uint8Array), missing }
}

function deletedClients(update: Uint8Array): Iterable<number> {
  return Y.decodeUpdateV2(update).ds.clients.keys()
}

/** Whether an update that has passed the guard supplies some of the missing content. */
export function fillsGap({ missing }: LogGap, update: Uint8Array): boolean {
  const { to } = Y.parseUpdateMeta(update)
  return [...missing].some(([client, clock]) => (to.get(client) ?? 0) > clock)
}

/** Applies the updates of a gap as far as possible. Returns the gap that remains; `null` when no content is missing any more. */
export function applyLater(doc: Y.Doc, gap: LogGap): LogGap | null {
  for (const update of gap.later) Y.applyUpdateV2(doc, update)
  return takePending(doc)
}
