import * as Y from 'yjs'

/**
 * What a log leaves out of its document because a record before it is missing: an earlier program stored edits behind one that was lost.
 * The document itself is sound; what is held here waits for the missing content. [LIFE-5]
 */
export interface LogGap {
  /** As Yjs kept it, in its second update format. */
  readonly later: readonly Uint8Array[]
  /** From which clock on content of these clients is missing. */
  readonly missing: ReadonlyMap<number, number>
}

/** Takes what is pending off a document, which is sound afterwards; `null` when nothing is pending. */
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

/** Whether an update, which the guard has passed, brings content that is missing. */
export function fillsGap({ missing }: LogGap, update: Uint8Array): boolean {
  const { to } = Y.parseUpdateMeta(update)
  return [...missing].some(([client, clock]) => (to.get(client) ?? 0) > clock)
}

/** Applies what has waited; answers what still waits after that, `null` when the gap is closed. */
export function applyLater(doc: Y.Doc, gap: LogGap, origin: unknown): LogGap | null {
  for (const update of gap.later) Y.applyUpdateV2(doc, update, origin)
  return takePending(doc)
}
