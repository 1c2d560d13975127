import { describe, expect, it } from 'vitest'
import { type Body, liveDocuments, setShape, shapesIn } from '../live-documents.ts'
import { saved, until } from '../relay-under-test.ts'
import { isCovered, storedHead, storedRows } from '../store-file.ts'
import { pause } from '../wire-client.ts'
import { stopwatch } from '../../kernel/testing/patience.ts'

const live = liveDocuments()
const { create, opened, read } = live

/** Waits until the stored body contains every edit. Returns the elapsed time, and the time as on a quiet machine. */
async function untilCovered(id: string, timeoutMs = 15_000): Promise<{ readonly wallMs: number; readonly quietMs: number }> {
  const startedAt = performance.now()
  const took = stopwatch()
  await until('the body to hold every edit', () => isCovered(live.relay, id), timeoutMs)
  return { wallMs: performance.now() - startedAt, quietMs: took() }
}

// Most of these tests wait for timers of the relay, so they run concurrently.
describe.concurrent('the life of a live document', () => {
  it('[LIFE-10] the body is stored 2 s after the last edit', async () => {
    await create('idle')
    const ann = await opened('idle')
    setShape(ann, 'a')
    await saved(ann)
    expect(isCovered(live.relay, 'idle')).toBe(false)
    const { wallMs, quietMs } = await untilCovered('idle')
    expect(wallMs).toBeGreaterThan(1_500)
    expect(quietMs).toBeLessThan(4_000)
    ann.destroy()
  })

  it('[LIFE-10] while edits continue, the body is stored within 10 s of the first', async () => {
    await create('busy')
    const ann = await opened('busy')
    const before = storedHead(live.relay, 'busy')?.coveredSeq ?? 0
    const startedAt = performance.now()
    const took = stopwatch()
    let followedMs = 0
    for (let i = 0; followedMs === 0 && i < 60; i++) {
      setShape(ann, `a${i}`)
      await pause(250)
      if ((storedHead(live.relay, 'busy')?.coveredSeq ?? 0) > before) followedMs = performance.now() - startedAt
    }
    expect(followedMs).toBeGreaterThan(8_000)
    expect(took()).toBeLessThan(12_000)
    ann.destroy()
  })

  it('[LIFE-10] the body is stored at once when the last participant leaves', async () => {
    await create('left')
    const ann = await opened('left')
    const ben = await opened('left')
    setShape(ann, 'a')
    await saved(ann)
    ann.destroy()
    await pause(300)
    expect(isCovered(live.relay, 'left')).toBe(false)
    ben.destroy()
    expect((await untilCovered('left')).quietMs).toBeLessThan(1_200)
  })

  it('[LIFE-11] a read shows every edit acknowledged before it, content and version together', async () => {
    await create('read')
    const ann = await opened('read')
    for (let i = 0; i < 5; i++) {
      setShape(ann, `a${i}`)
      await saved(ann)
      const body = await read('read')
      expect(shapesIn(body)).toContain(`a${i}`)
      expect(body.serverVersion).toBe(2 + i)
      expect(storedHead(live.relay, 'read')?.version).toBe(2 + i)
    }
    ann.destroy()
  })

  it('[LIFE-12] the version rises by one exactly when the body changed', async () => {
    await create('version')
    const ann = await opened('version')
    const first = (await read('version')).serverVersion
    const versionAfter = async (edit: () => void): Promise<number> => {
      const before = storedHead(live.relay, 'version')?.lastSeq ?? 0
      edit()
      await saved(ann)
      expect(storedHead(live.relay, 'version')?.lastSeq).toBeGreaterThan(before)
      return (await read('version')).serverVersion
    }
    expect(await versionAfter(() => ann.doc.getMap('some other root').set('a', 1))).toBe(first)
    expect(await versionAfter(() => ann.doc.getMap('metadata').set('unknown key', 1))).toBe(first)
    expect(await versionAfter(() => setShape(ann, 'a'))).toBe(first + 1)
    const again = { ...(ann.doc.getMap('shapes:canvas').get('a') as object) }
    expect(await versionAfter(() => ann.doc.getMap('shapes:canvas').set('a', again))).toBe(first + 1)
    expect(await versionAfter(() => ann.doc.getMap('shapes:canvas').delete('a'))).toBe(first + 2)
    await read('version')
    await pause(2_500)
    expect((await read('version')).serverVersion).toBe(first + 2)
    ann.destroy()
  })

  const pointsOf = (id: string) =>
    storedRows(live.relay, 'select reason, body from recovery_points join documents using (key) where id = ?', id).map((row) => ({
      reason: row['reason'],
      body: JSON.parse(new TextDecoder().decode(row['body'] as Uint8Array)) as Body,
    }))

  it('[LIFE-18] deleting the last shape is accepted, and the state before it becomes a recovery point', async () => {
    await create('zeroed')
    const ann = await opened('zeroed')
    setShape(ann, 'live')
    await saved(ann)
    expect(shapesIn(await read('zeroed'))).toEqual(['live', 's1'])
    const before = pointsOf('zeroed').filter(({ reason }) => reason === 'zeroing').length
    ann.doc.transact(() => ann.doc.getMap('shapes:canvas').forEach((_, id, map) => map.delete(id)))
    await saved(ann)
    expect(shapesIn(await read('zeroed'))).toEqual([])
    const points = pointsOf('zeroed').filter(({ reason }) => reason === 'zeroing')
    expect([before, points.length]).toEqual([0, 1])
    expect(points.map(({ body }) => shapesIn(body))).toEqual([['live', 's1']])
    ann.destroy()
  })

  it('[LIFE-18] the state before two pages become empty is kept, over WebSocket and by a PUT', async () => {
    await create('emptied')
    const ann = await opened('emptied')
    ann.doc.transact(() => {
      for (const page of ['prose:one', 'prose:two']) ann.doc.getXmlFragment(page).delete(0, ann.doc.getXmlFragment(page).length)
    })
    await saved(ann)
    expect((await read('emptied')).richTextPages.map(({ content }) => content).join('')).not.toContain('first')
    expect(
      pointsOf('emptied')
        .at(-1)
        ?.body.richTextPages.map(({ content }) => content.replace(/ id="[^"]*"/, '')),
    ).toEqual(['<p>first</p>', '<p>second</p>'])
    await create('put away')
    await live.relay.rest().putDocument('put away', { name: 'empty', pages: [], richTextPages: [] })
    expect(pointsOf('put away').map(({ reason, body }) => [reason, shapesIn(body)])).toEqual([['zeroing', ['s1']]])
    ann.destroy()
  })
})
