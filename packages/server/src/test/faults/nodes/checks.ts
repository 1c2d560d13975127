import type { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import type { RelayUnderTest } from '../../relay-under-test.ts'
import { saved, until } from '../../relay-under-test.ts'
import { addLosses, type Losses, NO_LOSSES, tally } from '../losses.ts'
import type { Cluster } from './cluster.ts'
import type { NodesLoad } from './nodes-load.ts'
import type { Acknowledged, Recorder } from './recorder.ts'

const QUIET_WITHIN_MS = 15_000
const PAGES = ['text', 'tools'] as const
const CHECKS_AT_ONCE = 8

/** The time until everybody was connected, saved and equal, and the remaining differences. */
export interface Convergence {
  readonly tookMs: number
  readonly differences: readonly string[]
}

/** Waits until all people are in sync and saved, and all with the same document open have the same content. [LIFE-25] */
export async function converge(load: NodesLoad): Promise<Convergence> {
  const startedMs = performance.now()
  const isDone = () => unsettled(load).length === 0 && differing(load).length === 0
  await until('all replicas to be equal', isDone, QUIET_WITHIN_MS).catch(() => undefined)
  return { tookMs: performance.now() - startedMs, differences: [...unsettled(load), ...differing(load)] }
}

function unsettled({ typists }: NodesLoad): readonly string[] {
  return typists.flatMap(({ name, client, front }) => {
    const { synced, saved: isSaved, connection, refusal, closed } = client.state
    if (synced && isSaved === 'saved') return []
    const why = `${connection}, ${isSaved}, ${refusal ?? 'not refused'}, ${closed?.code ?? 'open'} ${closed?.reason ?? ''}`
    return [`${name} at ${front.nodeOf(name)} is not in sync: ${why}`]
  })
}

function differing({ documents, typists }: NodesLoad): readonly string[] {
  return documents.flatMap((document) => {
    const open = typists.filter((one) => one.document === document)
    const [first, ...others] = open
    if (first === undefined) return []
    return others
      .filter(({ client }) => !isSame(client.doc, first.client.doc))
      .map(({ name }) => `${name} differs from ${first.name} in ${document}`)
  })
}

function isSame(a: Y.Doc, b: Y.Doc): boolean {
  if (!Buffer.from(Y.encodeStateVector(a)).equals(Buffer.from(Y.encodeStateVector(b)))) return false
  return PAGES.every((page) => textOf(a, page) === textOf(b, page))
}

function textOf(doc: Y.Doc, page: string): string {
  return doc.getXmlFragment(`prose:${page}`).toString()
}

/** The result of a search for everything acknowledged. */
export interface Found {
  readonly losses: Losses
  /** The missing marks and where each is missing, for the report. */
  readonly missing: readonly string[]
  /** How many acknowledged marks are gone because the database server lost commits that it had confirmed. These do not count as missing. */
  readonly lostWithTail: number
}

/** Searches everything acknowledged: in log and bodies through a relay that never served the load, and in the log in the database. [LIFE-1] */
export async function findMissing(cluster: Cluster, fresh: RelayUnderTest, load: NodesLoad, recorder: Recorder): Promise<Found> {
  const byDocument = Map.groupBy(recorder.acknowledged, ({ document }) => document)
  const missing: string[] = []
  let losses = NO_LOSSES
  let lostWithTail = 0
  const documents = [...byDocument.keys()]
  const look = async (): Promise<void> => {
    for (let document = documents.pop(); document !== undefined; document = documents.pop()) {
      const expected = byDocument.get(document) ?? []
      // One request stored the whole document, so the document was lost as a whole.
      if (expected.every((one) => isExcused(one, recorder)) && (await isAbsent(fresh, document))) {
        lostWithTail += expected.length
        continue
      }
      const lost = await missingIn(cluster, fresh, { document, isLive: load.documents.includes(document), expected }).catch(
        (error: unknown) => {
          missing.push(`${document} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
          losses = addLosses(losses, { ...NO_LOSSES, unloadable: 1 })
          return null
        },
      )
      if (lost === null) continue
      const excused = new Set(lost.filter((one) => isExcused(one, recorder)).map(({ mark }) => mark))
      lostWithTail += excused.size
      const unexcused = lost.filter(({ mark }) => !excused.has(mark))
      missing.push(
        ...unexcused.map(({ mark, where, atMs }) => `${mark} of ${document} ${where}, acknowledged at ${Math.round(atMs)} ms`),
      )
      const gone = new Set(unexcused.map(({ mark }) => mark))
      for (const source of ['typed', 'saved', 'tools'] as const) {
        const ofSource = expected.filter((one) => one.source === source && !excused.has(one.mark))
        losses = addLosses(losses, tally(source, ofSource.length, ofSource.filter(({ mark }) => gone.has(mark)).length))
      }
    }
  }
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, look))
  return { losses, missing, lostWithTail }
}

/**
 * Whether the database server may have lost this acknowledged mark. Typed marks are never excused: the editors hold them, and send them again
 * when they connect to a store that lacks them.
 */
function isExcused({ source, atMs }: Acknowledged, recorder: Recorder): boolean {
  return source !== 'typed' && recorder.isOfLostTail(atMs)
}

async function isAbsent(fresh: RelayUnderTest, document: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${fresh.token({ sub: 'checker', role: 'owner' })}` }
  return (await fresh.fetch(`/api/docs/${document}`, { headers })).status === 404
}

interface Looked {
  readonly document: string
  /** Whether people had the document open, so that its log contains everything. */
  readonly isLive: boolean
  readonly expected: readonly Acknowledged[]
}

async function missingIn(
  cluster: Cluster,
  fresh: RelayUnderTest,
  { document, isLive, expected }: Looked,
): Promise<readonly (Acknowledged & { readonly where: string })[]> {
  const body = JSON.stringify(await fresh.rest({ sub: 'checker', role: 'owner' }).getDocument(document))
  const places: [string, string][] = [['is not in the answer of REST', body]]
  if (isLive) {
    const reader = fresh.sync(document, { sub: 'checker' })
    await saved(reader)
    places.push(['is not with a fresh client', pagesOf(reader)])
    reader.destroy()
    const log = await cluster.audit.logOf(document)
    places.push(['is not in the log', PAGES.map((page) => textOf(log, page)).join('')])
  }
  return expected.flatMap((one) => places.filter(([, text]) => !text.includes(one.mark)).map(([where]) => ({ ...one, where })))
}

function pagesOf({ doc }: SyncClient): string {
  return PAGES.map((page) => textOf(doc, page)).join('')
}
