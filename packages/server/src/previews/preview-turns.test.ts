import { expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import { NO_LIMITS } from '../access/testing/no-limits.ts'
import type { DocumentHead, DocumentRecord } from '../documents/document-store.port.ts'
import { silentLogger } from '../kernel/log.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import type { TaskCall, TaskPool } from '../kernel/task-pool.ts'
import type { PreviewResult, PreviewTask } from './preview-task.ts'
import { openPreviews } from './previews.ts'

const ACCESS: Access = { sub: 'ann', workspaceId: 'w', role: 'owner', limits: NO_LIMITS }
const READER = { sub: 'ann', level: 'owner' } as const
const HEAD = { version: 1 } as DocumentHead
const RECORD = { head: HEAD, body: Buffer.from('{"pages":[]}') } as unknown as DocumentRecord

it('[REST-34] [REST-13] previews of a workspace are drawn one at a time; after 30 s of waiting one answers 503', async () => {
  const time = manualTime()
  const read: string[] = []
  const { promise: slow, resolve: finish } = Promise.withResolvers<void>()
  const documents = {
    head: async () => ({ head: HEAD, reader: READER }),
    async get(_: Access, id: string) {
      read.push(id)
      if (id === 'slow') await slow
      return { head: HEAD, reader: READER, record: RECORD }
    },
  }
  await using previews = openPreviews({ documents, clock: time.clock, log: silentLogger })
  const draw = (docId: string) =>
    previews
      .draw(ACCESS, { docId, pageId: null, scale: 1, format: 'svg' }, () => false)
      .then(
        ({ kind }) => kind,
        (error: unknown) => error,
      )
  const drawings = [draw('slow'), draw('late')]
  await time.advance(30_001)
  drawings.push(draw('in time'))
  await time.advance(0)
  expect(read).toEqual(['slow'])
  finish()
  const late = { code: 'UNAVAILABLE', details: { retryAfterMs: 5000 } }
  expect(await Promise.all(drawings)).toEqual(['drawn', expect.objectContaining(late), 'drawn'])
  expect(read).toEqual(['slow', 'in time'])
})

/** Makes documents of which the one with the id `slow` is not returned before the test calls `finish`. */
function slowDocuments() {
  const read: string[] = []
  const { promise: slow, resolve: finish } = Promise.withResolvers<void>()
  const documents = {
    head: async () => ({ head: HEAD, reader: READER }),
    async get(access: Access, id: string) {
      read.push(`${access.workspaceId} ${id}`)
      if (id === 'slow') await slow
      return { head: HEAD, reader: READER, record: RECORD }
    },
  }
  return { read, finish, documents }
}

it('[C11] [REST-34] a page whose client left before its turn is not drawn, and its body is not read', async () => {
  const time = manualTime()
  const { read, finish, documents } = slowDocuments()
  await using previews = openPreviews({ documents, clock: time.clock, log: silentLogger })
  const picture = { pageId: null, scale: 1, format: 'svg' } as const
  const first = previews.draw(ACCESS, { docId: 'slow', ...picture }, () => false)
  const client = new AbortController()
  const left = previews.draw(ACCESS, { docId: 'left', ...picture }, () => false, client.signal)
  await time.advance(0)
  client.abort(new Error('the client left'))
  await expect(left).rejects.toThrow('the client left')
  finish()
  expect((await first).kind).toBe('drawn')
  expect(read).toEqual(['w slow'])
})

/** Makes a pool whose tasks run until they are aborted, and counts the running ones. */
function endlessPool() {
  const at = { running: 0 }
  const pool: TaskPool<PreviewTask, PreviewResult> = {
    run({ givenUp }: TaskCall<PreviewTask, PreviewResult>) {
      at.running++
      return new Promise((resolve) => {
        givenUp?.addEventListener('abort', () => {
          at.running--
          resolve({ kind: 'givenUp' })
        })
      })
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
  return { at, pool }
}

it('[C11] [REST-34] when a client leaves while its page is drawn, drawing stops and the next page of the workspace follows', async () => {
  const time = manualTime()
  const { read, documents } = slowDocuments()
  const { at, pool } = endlessPool()
  await using previews = openPreviews({ documents, clock: time.clock, log: silentLogger, pool })
  const clients = Array.from({ length: 3 }, () => new AbortController())
  const drawings = clients.map(({ signal }, i) => {
    const request = { docId: `page ${i}`, pageId: null, scale: 1, format: 'png' } as const
    return previews.draw(ACCESS, request, () => false, signal)
  })
  for (const [i, client] of clients.entries()) {
    await time.advance(0)
    expect([at.running, read.length]).toEqual([1, i + 1])
    client.abort(new Error('the client left'))
    await expect(drawings[i]).rejects.toThrow('the client left')
  }
  expect(at.running).toBe(0)
})

it('[C11] [REST-34] a page of another workspace is drawn beside a slow one, and the queue of a workspace is limited', async () => {
  const time = manualTime()
  const { read, finish, documents } = slowDocuments()
  await using previews = openPreviews({ documents, clock: time.clock, log: silentLogger })
  const picture = { pageId: null, scale: 1, format: 'svg' } as const
  const draw = (workspaceId: string, docId: string) =>
    previews.draw({ ...ACCESS, workspaceId }, { docId, ...picture }, () => false)
  const noisy = Array.from({ length: 65 }, (_, i) => draw('noisy', i === 0 ? 'slow' : 'next'))
  await time.advance(0)
  await expect(draw('noisy', 'one too many')).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { retryAfterMs: 5000 } })
  expect((await draw('quiet', 'small')).kind).toBe('drawn')
  expect(read).toEqual(['noisy slow', 'quiet small'])
  finish()
  await Promise.all(noisy)
})

it('[AG-109] a picture for an agent waits in the queue of its workspace; a full queue gives a failed result', async () => {
  const time = manualTime()
  const { read, finish, documents } = slowDocuments()
  await using previews = openPreviews({ documents, clock: time.clock, log: silentLogger })
  const preview = (docId: string) =>
    previews.draw(ACCESS, { docId, pageId: null, scale: 1, format: 'svg' }, () => false).then(({ kind }) => kind)
  const picture = (workspaceId: string, signal = new AbortController().signal) => {
    const request = { workspaceId, sizeBytes: 10, pageId: 'p', shapeId: null }
    const body = async () => {
      read.push(`${workspaceId} picture`)
      return Buffer.from('{"pages":[{"id":"p","shapes":[]}]}')
    }
    return previews.picture({ ...request, body }, signal)
  }
  const slow = preview('slow')
  await time.advance(0)
  const waiting = picture('w')
  const left = new AbortController()
  const abandoned = picture('w', left.signal)
  await time.advance(0)
  left.abort(new Error('the caller left'))
  await expect(abandoned).rejects.toThrow('the caller left')
  expect((await picture('other')).kind).toBe('drawn')
  const queue = Array.from({ length: 63 }, () => preview('next'))
  await time.advance(0)
  expect(await picture('w')).toEqual({ kind: 'failed', reason: 'the workspace already waits for 64 pages' })
  expect(read).toEqual(['w slow', 'other picture'])
  finish()
  expect([await slow, (await waiting).kind]).toEqual(['drawn', 'drawn'])
  await Promise.all(queue)
})

it('[AG-109] a picture that fails unexpectedly gives a failed result and is logged', async () => {
  const lines: unknown[] = []
  const log = { ...silentLogger, error: (...line: readonly unknown[]) => void lines.push(line) }
  const { documents } = slowDocuments()
  await using previews = openPreviews({ documents, clock: manualTime().clock, log })
  const request = { workspaceId: 'w', sizeBytes: 10, pageId: 'p', shapeId: null }
  const { signal } = new AbortController()
  const body = () => Promise.reject(new Error('secret detail'))
  expect(await previews.picture({ ...request, body }, signal)).toEqual({
    kind: 'failed',
    reason: 'the relay failed unexpectedly',
  })
  expect(JSON.stringify(lines)).toContain('secret detail')
  const damaged = await previews.picture({ ...request, body: async () => Buffer.from('[') }, signal)
  expect(damaged).toEqual({ kind: 'failed', reason: 'the page could not be drawn now' })
})
