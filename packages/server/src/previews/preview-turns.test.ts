import { expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import { NO_LIMITS } from '../access/testing/no-limits.ts'
import type { DocumentHead, DocumentRecord } from '../documents/document-store.port.ts'
import { silentLogger } from '../kernel/log.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { openPreviews } from './previews.ts'

const ACCESS: Access = { sub: 'ann', workspaceId: 'w', role: 'owner', limits: NO_LIMITS }
const READER = { sub: 'ann', level: 'owner' } as const
const HEAD = { version: 1 } as DocumentHead
const RECORD = { head: HEAD, body: Buffer.from('{"pages":[]}') } as unknown as DocumentRecord

it('[REST-34] [REST-13] pages are drawn one at a time; one that waited half a minute is 503, and its body is never read', async () => {
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
