import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { liveDocuments, setShape, shapesIn } from '../live-documents.ts'
import { saved, until } from '../relay-under-test.ts'
import { storedHead, storedRows } from '../store-file.ts'
import { pause } from '../wire-client.ts'

const live = liveDocuments()
const { create, opened, read } = live

describe('a deleted document', () => {
  const TABLES = ['log_heads', 'bodies', 'updates', 'snapshots', 'recovery_points', 'set_aside'] as const
  const left = () =>
    TABLES.flatMap((table) => storedRows(live.relay, `select key from ${table} where key not in (select key from documents)`))

  it('[LIFE-23] edits during and after a deletion leave no trace of the document', async () => {
    await create('deleted')
    const typists = [await opened('deleted'), await opened('deleted'), await opened('deleted')]
    let typing = true
    const work = typists.map(async (client, i) => {
      for (let j = 0; typing; j++) {
        setShape(client, `${i}.${j}`)
        await pause(5)
      }
    })
    await pause(200)
    await live.relay.rest().deleteDocument('deleted')
    await pause(300)
    typing = false
    await Promise.all(work)
    // Waits until saves that were due at the deletion would have run.
    await pause(2_500)
    expect(storedHead(live.relay, 'deleted')).toBeNull()
    expect(left()).toEqual([])
    expect(storedRows(live.relay, 'select id from tombstones')).toEqual([{ id: 'deleted' }])
    for (const client of typists) client.destroy()
  })

  it('[LIFE-23] [WS-21] edits made offline are refused when the document was deleted meanwhile', async () => {
    await create('away')
    const ann = await opened('away')
    ann.disconnect()
    setShape(ann, 'late')
    await live.relay.rest().deleteDocument('away')
    ann.connect()
    await until('the refusal', () => ann.state.refusal === 'ERR_DELETED')
    await live.relay.kill()
    await live.relay.restart()
    await expect(live.relay.rest().getDocument('away')).rejects.toMatchObject({ status: 404 })
    expect(left()).toEqual([])
    ann.destroy()
  })

  it('[LIFE-23] [YDOC-8] content of a deleted document does not appear in a new document with the same id', async () => {
    await create('again')
    const ann = await opened('again')
    setShape(ann, 'old life')
    await saved(ann)
    await live.relay.rest().deleteDocument('again')
    await live.relay.rest().putDocument('again', { name: 'again', pages: [] }, { overrideTombstone: true })
    const fresh = live.relay.sync('again')
    await saved(fresh)
    expect(fresh.doc.getMap('shapes:canvas').size).toBe(0)
    expect(shapesIn(await read('again'))).toEqual([])
    for (const client of [ann, fresh]) client.destroy()
  })
})

describe('one lineage', () => {
  it('[YDOC-8] [LIFE-15] a client copy merges with a later cold write, and no content is doubled', async () => {
    await create('lineage')
    const ann = await opened('lineage')
    setShape(ann, 'before')
    await saved(ann)
    ann.disconnect()
    await live.relay.stop()
    await live.relay.restart()
    const body = await read('lineage')
    await live.relay.rest().putDocument('lineage', {
      ...body,
      richTextPages: body.richTextPages.map((page) => ({
        ...page,
        content: page.content.replace('first', 'first, changed cold'),
      })),
    })
    const page = ann.doc.getXmlFragment('prose:two')
    page.insert(page.length, [paragraph('written offline')])
    ann.connect()
    await saved(ann)
    const merged = await read('lineage')
    const contents = merged.richTextPages.map(({ content }) => content.replace(/<[^>]*>/g, '|'))
    expect(contents).toEqual(['|first, changed cold|', '|second||written offline|'])
    expect(shapesIn(merged)).toEqual(['before', 's1'])
    expect(ann.doc.getXmlFragment('prose:one').toString()).toContain('first, changed cold')
    ann.destroy()
  })

  it('[YDOC-10] doubled prose loses its second half at the next load, by one edit that every client gets', async () => {
    await create('doubled')
    const ann = await opened('doubled')
    const page = ann.doc.getXmlFragment('prose:one')
    page.delete(0, page.length)
    page.insert(0, ['a', 'b', 'a', 'b'].map(paragraph))
    await saved(ann)
    const { lastSeq } = storedHead(live.relay, 'doubled') ?? { lastSeq: 0 }
    await live.relay.kill()
    await live.relay.restart()
    await until('ann to be back', () => ann.state.synced && page.length === 2)
    expect(page.toArray().map(String)).toEqual(['<paragraph>a</paragraph>', '<paragraph>b</paragraph>'])
    expect(storedHead(live.relay, 'doubled')?.lastSeq).toBe(lastSeq + 1)
    expect((await read('doubled')).richTextPages[0]?.content.replace(/<[^>]*>/g, '|')).toBe('|a||b|')
    ann.destroy()
  })

  it('[YDOC-7] a title set over REST replaces an older client title, and a newer client title wins', async () => {
    await create('title')
    const ann = await opened('title')
    const metadata = ann.doc.getMap('metadata')
    const body = await read('title')
    await live.relay.rest().putDocument('title', { ...body, name: 'set over REST' })
    await until('the title to arrive', () => metadata.get('title') === 'set over REST')
    const nameOf = async () => ((await read('title')) as unknown as { name: string }).name
    ann.doc.transact(() => {
      metadata.set('title', 'stale')
      metadata.set('updatedAt', Date.now() - 60_000)
    })
    await saved(ann)
    expect(await nameOf()).toBe('set over REST')
    await until('the title to be put back', () => metadata.get('title') === 'set over REST')
    ann.doc.transact(() => {
      metadata.set('title', 'typed live')
      metadata.set('updatedAt', Date.now() + 1)
    })
    await saved(ann)
    expect(await nameOf()).toBe('typed live')
    ann.destroy()
  })
})

function paragraph(text: string): Y.XmlElement {
  const element = new Y.XmlElement('paragraph')
  element.insert(0, [new Y.XmlText(text)])
  return element
}
