import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { patience } from '../kernel/testing/patience.ts'
import { collected, hashOf, inPieces, someBytes } from './testing/blob-bytes.ts'
import { type BlobNode, type BlobNodes, type CollectorStep, GRACE_MS, openBlobNodes } from './testing/blob-nodes.ts'
import { callerOf, refusalOf } from './testing/blob-workspace.ts'

const HOUR_MS = 3_600_000
/** The time limit of a test with dozens of commits and requests to the object store. */
const COMMITS = { timeout: patience(20_000) }
const SEEDS = Array.from({ length: 20 }, (_, seed) => seed)

const opened = await openBlobNodes()
if (typeof opened === 'string') process.stderr.write(`skipped: ${opened}\n`)

const ann = callerOf()
const upload = async ({ blobs }: BlobNode, bytes: Uint8Array, expectedHash: string | null = hashOf(bytes)): Promise<void> => {
  const { byteLength: declaredBytes } = bytes
  await blobs.upload(ann, { expectedHash, bytes: inPieces(bytes), declaredBytes, mimeType: 'image/png', provenance: null })
}
/** Returns a function that draws numbers below `below`; the same seed gives the same numbers. */
function drawn(seed: number): (below: number) => number {
  const bytes = someBytes(64, seed + 1)
  let at = 16
  return (below) => (bytes[at++] ?? 0) % below
}

describe.skipIf(typeof opened === 'string')('blobs of two nodes on one database and one object store', () => {
  const { nodes, time, put } = opened as BlobNodes
  const [left, right] = nodes
  beforeEach(() => {
    for (const node of nodes) node.pause = () => Promise.resolve()
  })
  afterAll(() => (opened as BlobNodes)[Symbol.asyncDispose]())

  const putAndFinalize = async ({ blobs: { presigned } }: BlobNode, bytes: Uint8Array): Promise<void> => {
    const asked = { hash: hashOf(bytes), mimeType: 'image/png' }
    const ticket = await presigned.uploadUrl(ann, { ...asked, sizeBytes: bytes.byteLength })
    if (ticket === 'exists') return
    await put(ticket.key, bytes)
    await presigned.finalize(ann, asked)
  }
  const uploads: readonly ((node: BlobNode, bytes: Uint8Array) => Promise<void>)[] = [
    upload,
    (node, bytes) => upload(node, bytes, null),
    putAndFinalize,
  ]
  const readsBack = async (bytes: Uint8Array): Promise<void> => {
    for (const { ledger, store } of nodes) {
      const grant = await ledger.find('acme', hashOf(bytes))
      expect(grant?.sizeBytes).toBe(bytes.byteLength)
      expect(await collected(await store.read(grant?.object ?? '', null))).toEqual(bytes)
    }
  }
  const objectsOf = async (bytes: Uint8Array): Promise<readonly string[]> => {
    const objects: string[] = []
    for await (const { object, hash } of left.store.list()) if (hash === hashOf(bytes)) objects.push(object)
    return objects
  }

  it(
    '[BLOB-24] a blob uploaded on one node stays readable while the collector of another node removes its former bytes',
    COMMITS,
    async () => {
      const bytes = someBytes(5_000, 1)
      await upload(left, bytes)
      await time.advance(GRACE_MS + 1)
      let removals = 0
      left.pause = async (before) => {
        if (before === 'remove' && removals++ === 0) await upload(right, bytes)
      }
      await left.collect()
      expect(removals).toBe(1)
      await readsBack(bytes)
    },
  )

  it(
    '[REST-12] the uploads of a workspace are counted over all nodes, and the uploads of a dead node expire',
    COMMITS,
    async () => {
      const access = { ...ann, workspaceId: 'counted' }
      const begin = ({ blobs }: BlobNode, bytes: AsyncIterable<Uint8Array>) =>
        refusalOf(blobs.upload(access, { expectedHash: null, bytes, declaredBytes: null, mimeType: null, provenance: null }))
      const letGo: (() => void)[] = []
      /** Bytes of an upload that ends only when the test ends it. */
      const arriving = (began: () => void): AsyncIterable<Uint8Array> => {
        const end = new Promise<void>((resolve) => letGo.push(resolve))
        return (async function* () {
          yield someBytes(10)
          began()
          await end
        })()
      }
      const running: Promise<unknown>[] = []
      for (const node of [left, right, left, right]) {
        await new Promise<void>((began) => void running.push(begin(node, arriving(began))))
      }
      const refusals = () => Promise.all(nodes.map((node) => begin(node, inPieces(someBytes(20)))))
      expect(await refusals()).toEqual(['TOO_MANY_UPLOADS', 'TOO_MANY_UPLOADS'])
      // Renews no reservation, so that the running uploads expire.
      await time.advance(3 * 60_000)
      expect(await refusals()).toEqual(['accepted', 'accepted'])
      for (const end of letGo) end()
      await Promise.all(running)
    },
  )

  it.each(SEEDS)(
    '[BLOB-24] a blob uploaded on any node at any step of a collection stays readable, and one object of it stays: seed %i',
    COMMITS,
    async (seed) => {
      const draw = drawn(seed)
      const bytes = someBytes(2_000, 100 + seed)
      const uploadSomewhere = async (): Promise<void> => uploads[draw(3)]?.(nodes[draw(2)] ?? left, bytes)
      for (let times = draw(3); times >= 0; times--) await uploadSomewhere()
      await time.advance(GRACE_MS + 1)
      const step = (['strike', 'remove', 'forget'] as const)[draw(3)] as CollectorStep
      const [collector, other] = draw(2) === 0 ? nodes : ([right, left] as const)
      let paused = false
      collector.pause = async (before) => {
        if (before !== step || paused) return
        paused = true
        const racing = [uploadSomewhere()]
        if (draw(2) === 0) racing.push(uploadSomewhere())
        if (draw(2) === 0) racing.push(other.collect())
        await Promise.all(racing)
      }
      await collector.collect()
      expect(paused).toBe(true)
      await readsBack(bytes)
      // Replaced bytes are kept for an hour, since links may still lead to them.
      await time.advance(2 * HOUR_MS)
      for (const node of nodes) await node.collect()
      await readsBack(bytes)
      expect(await objectsOf(bytes)).toEqual([(await left.ledger.find('acme', hashOf(bytes)))?.object])
    },
  )
})
