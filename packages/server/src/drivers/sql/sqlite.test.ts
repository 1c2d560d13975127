import { fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { creation, update, written } from '../../documents/testing/document-writes.ts'
import { openHost, temporaryStores } from './testing/store-under-test.ts'

const newStore = temporaryStores()

describe('one process per store', () => {
  it('[LIFE-3] opening a store twice, in one process or two, is refused with its name until the first is closed', async () => {
    const { url, path } = newStore()
    const first = await openHost(url)
    await expect(openHost(url)).rejects.toThrow(`the store ${path} is in use by another process`)
    await first[Symbol.asyncDispose]()

    const writer = fileURLToPath(new URL('./testing/crash-writer.ts', import.meta.url))
    const child = fork(writer, [url, '1'], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    await once(child, 'message')
    await expect(openHost(url)).rejects.toThrow('in use by another process')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await (await openHost(url))[Symbol.asyncDispose]()
  })

  it('[LIFE-5] a file that is not a store is refused with its name and not changed', async () => {
    const { url, path } = newStore()
    writeFileSync(path, Buffer.alloc(8192, 'not a database '))
    const before = statSync(path)
    await expect(openHost(url)).rejects.toThrow(`cannot open the store ${path}`)
    expect([statSync(path).size, statSync(path).mtimeMs]).toEqual([before.size, before.mtimeMs])
  })

  it('[LIFE-28] closing a store leaves one file that contains everything', async () => {
    const { url, path } = newStore()
    const host = await openHost(url)
    const { key } = written(await host.documents.write(creation({ workspaceId: 'w', id: 'd' })))
    await host.updates.append([{ key, afterSeq: 0, actor: 'ada', atMs: 1, update: update(1) }])
    await host[Symbol.asyncDispose]()
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
    const db = new DatabaseSync(path, { readOnly: true })
    expect(db.prepare('select count(*) as n from updates').get()).toEqual({ n: 1 })
    db.close()
  })
})

describe('costs', () => {
  it('[LIFE-7] appending costs the same for a document of 2 MiB and one of two bytes', async () => {
    const grown = async (bodyBytes: number) => {
      const { url, path } = newStore()
      const host = await openHost(url)
      const { key } = written(await host.documents.write(creation({ workspaceId: 'w', id: 'd' }, 'x'.repeat(bodyBytes))))
      const before = statSync(`${path}-wal`).size
      for (let i = 0; i < 20; i++)
        await host.updates.append([{ key, afterSeq: i, actor: 'ada', atMs: 1, update: new Uint8Array(50) }])
      const bytes = statSync(`${path}-wal`).size - before
      await host[Symbol.asyncDispose]()
      return bytes
    }
    const small = await grown(2)
    expect(await grown(2 << 20)).toBe(small)
    // A small append writes only a few pages.
    expect(small / 20).toBeLessThan(5 * 4120)
  })

  it('[LIFE-16] usage of a workspace is summed from an index, without reading documents', async () => {
    const { url, path } = newStore()
    await (await openHost(url))[Symbol.asyncDispose]()
    const db = new DatabaseSync(path)
    const plan = db.prepare("explain query plan select sum(size_bytes) from documents where workspace_id = 'w'").all()
    db.close()
    expect(plan.map((row) => String(row.detail)).join()).toContain('USING COVERING INDEX documents_by_size')
  })
})
