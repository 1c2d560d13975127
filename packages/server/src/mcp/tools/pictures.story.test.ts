import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Bodies, openBodies } from '../../documents/bodies.ts'
import { type RestRelay, startRestRelay } from '../../http/testing/rest-relay.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/log.ts'
import { openTaskPool } from '../../kernel/task-pool.ts'
import type { PreviewResult, PreviewTask } from '../../previews/preview-task.ts'
import { openPreviews, type Picture, type Previews } from '../../previews/previews.ts'
import { toolCall } from '../testing/tool-call.ts'
import type { JsonObject } from '../tool.ts'
import { readTools } from './reads.ts'

const ANN = { sub: 'ann', workspace: 'default', role: 'member' }
const box = (id: string, x: number, y: number, label: string): JsonObject => {
  return { id, type: 'rectangle', x, y, width: 120, height: 70, label, fill: `hsl(${x % 360} 80% 60%)` }
}
const few = [box('a', 0, 0, 'One'), box('b', 250, 0, 'Two'), box('far', 9_000, 0, 'Far')]

let relay: RestRelay
let bodies: Bodies
let previews: Previews
/** Opens a pool whose threads may be slow while other tests use the processor; a late picture would count as none. */
const patientPool = () =>
  openTaskPool<PreviewTask, PreviewResult>({
    entry: new URL('../../previews/preview-worker.ts', import.meta.url),
    size: 1,
    deadline: 'processor',
  })

beforeEach(async () => {
  relay = await startRestRelay()
  bodies = openBodies({ maxBytes: 8_388_608, log: silentLogger })
  previews = openPreviews({ documents: relay.documents, clock: systemClock, log: silentLogger, pool: patientPool() })
  await put(few)
})
afterEach(async () => {
  await previews[Symbol.asyncDispose]()
  await bodies[Symbol.asyncDispose]()
  await relay[Symbol.asyncDispose]()
})

async function put(shapes: readonly JsonObject[]): Promise<void> {
  const { status } = await relay.call('PUT', '/api/docs/d', { as: ANN, body: { name: 'D', pages: [{ id: 'p', shapes }] } })
  expect(status).toBe(200)
}

async function read(name: string, args: JsonObject, pictures: Pick<Previews, 'picture'> = previews) {
  const tools = readTools({ documents: relay.documents, bodies, pictures, wasDeleted: async () => false })
  const outcome = await tools.find((tool) => tool.name === name)?.run(toolCall({ docId: 'd', pageId: 'p', ...args }))
  if (outcome?.kind !== 'success') throw new Error(`the read failed: ${JSON.stringify(outcome)}`)
  return outcome
}

/** Returns width and height of a PNG. */
function sizeOf(png: Uint8Array | undefined): readonly [number, number] {
  const bytes = Buffer.from(png ?? [])
  expect(bytes.subarray(1, 4).toString('latin1')).toBe('PNG')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

it('[AG-109] a page comes with a picture only when requested, at most 1,568 pixels wide', async () => {
  const seen = await read('get_page', { image: true })
  const plain = await read('get_page', { image: false })
  expect(plain).not.toHaveProperty('pictures')
  expect(seen.structured).toEqual(plain.structured)
  expect(seen.pictures).toHaveLength(1)
  expect(sizeOf(seen.pictures?.[0])[0]).toBeGreaterThan(1_500)
  expect(sizeOf(seen.pictures?.[0])[0]).toBeLessThanOrEqual(1_568)
})

it('[AG-109] the picture of a shape shows up to 200 units around the shape', async () => {
  const near = await read('get_shape', { id: 'a', image: true })
  expect(sizeOf(near.pictures?.[0])).toEqual([120 + 400, 70 + 400])
  const again = async (id: string, more: JsonObject) => {
    await put(few.map((shape) => (shape['id'] === id ? { ...shape, ...more } : shape)))
    const { pictures } = await read('get_shape', { id: 'a', image: true })
    return Buffer.from(pictures?.[0] ?? []).equals(near.pictures?.[0] ?? new Uint8Array())
  }
  expect(await again('far', { label: 'Elsewhere', y: 500 })).toBe(true)
  expect(await again('b', { label: 'Other' })).toBe(false)
})

it('[AG-109] the picture of a page with 500 shapes is scaled down to at most 100,000 bytes', async () => {
  await put(
    Array.from({ length: 500 }, (_, i) =>
      box(`s${i}`, (i % 22) * 61 + ((i * 7) % 13), Math.floor(i / 22) * 59 + ((i * 5) % 11), `Shape ${i * 7919} of many`),
    ),
  )
  const whole = await relay.call('GET', '/api/v1/docs/d/preview.png', { as: ANN })
  expect(Number(whole.headers.get('content-length'))).toBeGreaterThan(100_000)
  const { pictures } = await read('get_page', { image: true })
  expect(pictures?.[0]?.byteLength).toBeLessThanOrEqual(100_000)
  // Shrinking the image no more than needed keeps it above half of the limit.
  expect(pictures?.[0]?.byteLength).toBeGreaterThan(50_000)
  expect(Math.max(...sizeOf(pictures?.[0]))).toBeLessThanOrEqual(1_568)
})

it('[AG-109] a picture that cannot be drawn adds a warning to the complete answer', async () => {
  const failing = { picture: async (): Promise<Picture> => ({ kind: 'failed', reason: 'the page could not be drawn now' }) }
  const { structured, pictures } = await read('get_page', { image: true }, failing)
  expect(pictures).toBeUndefined()
  expect(structured).toMatchObject({
    shapeCount: 3,
    warnings: [
      { field: 'image', reason: 'there is no picture: the page could not be drawn now; the rest of the answer is complete' },
    ],
  })
})

it('[AG-109] when the page changes while its picture is drawn, text and picture are of one version', async () => {
  const late: Pick<Previews, 'picture'> = {
    async picture(request, left) {
      await put(few.slice(0, 1))
      return previews.picture(request, left)
    },
  }
  const { structured, pictures } = await read('get_page', { image: true }, late)
  expect(structured).toMatchObject({ shapeCount: 1, serverVersion: 2 })
  expect(sizeOf(pictures?.[0])).toEqual([200, 150])
})

it('[AG-109] when the page is deleted while its picture is drawn, the answer stays with a warning', async () => {
  const late: Pick<Previews, 'picture'> = {
    async picture(request, left) {
      await relay.call('PUT', '/api/docs/d', { as: ANN, body: { name: 'D', pages: [{ id: 'other', shapes: [] }] } })
      return previews.picture(request, left)
    },
  }
  const { structured, pictures } = await read('get_page', { image: true }, late)
  expect(pictures).toBeUndefined()
  expect(structured).toMatchObject({ shapeCount: 3, serverVersion: 1, warnings: [{ field: 'image' }] })
})

it('[MCP-54] a read with a picture takes five tokens, any other read one', () => {
  const tools = readTools({ documents: relay.documents, bodies, pictures: previews, wasDeleted: async () => false })
  const price = (name: string, args: unknown) => tools.find((tool) => tool.name === name)?.tokens?.(args) ?? 1
  for (const name of ['get_page', 'get_shape']) {
    // A boolean sent as a JSON string counts as that boolean. [AG-93]
    for (const image of [true, 'true']) expect(price(name, { image })).toBe(5)
    for (const args of [{}, { image: false }, { image: 'yes' }, { lint: true }, null, undefined, 'image'])
      expect(price(name, args)).toBe(1)
  }
  expect(price('get_prose', { image: true })).toBe(1)
})
