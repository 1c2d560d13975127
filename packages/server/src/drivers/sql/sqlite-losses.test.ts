import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { creation, update, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { openDatabase } from './database.ts'
import { lossByMark, markPathOf, markText, parseMark, readMark, writeMark } from './store-mark.ts'
import type { StorageHost } from './storage-host.ts'
import { openHost } from './testing/store-under-test.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-loss-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const pathIn = (name: string) => join(folder, name, 'relay.db')
const open = (name = 'a') => openHost(`sqlite:${pathIn(name)}`)

async function write(host: StorageHost, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    const { key } = written(await host.documents.write(creation({ workspaceId: 'w', id })))
    await host.updates.append([{ key, afterSeq: 0, actor: 'ada', atMs: 1, update: update(1) }])
  }
}

const close = (host: StorageHost) => host[Symbol.asyncDispose]()
const documents = async (host: StorageHost) => (await host.documents.list('w')).map(({ id }) => id).sort()

/** Copies the files of a store as they are after the process was killed, or after a power cut behind the last commit. */
function imageOf(from: string, to: string): void {
  cpSync(join(folder, from), join(folder, to), { recursive: true })
  for (const name of ['relay.db-shm', 'relay.db.lock']) rmSync(join(folder, to, name), { force: true })
}

/** Returns the files of a store, without the lock file and the side files that reading creates. */
const files = (name: string) => readdirSync(join(folder, name)).filter((file) => !/\.lock|-(shm|wal)$/.test(file))

const refused = async (name: string, what: RegExp) => {
  const before = files(name)
  await expect(open(name)).rejects.toThrow(what)
  await expect(open(name)).rejects.toThrow('--accept-loss')
  expect(files(name)).toEqual(before)
}

describe('a store that lost committed writes', () => {
  it('[LIFE-5] a store whose write-ahead log is missing after a kill is refused', async () => {
    const host = await open()
    await write(host, 'd1', 'd2')
    imageOf('a', 'b')
    await close(host)
    rmSync(`${pathIn('b')}-wal`)
    await refused('b', /older than the mark/)
  })

  it('[LIFE-5] a store whose write-ahead log is missing after a kill that followed a checkpoint is refused', async () => {
    const host = await open()
    // These writes make more than 16 MiB of write-ahead log, so that a checkpoint runs.
    for (let i = 0; i < 5; i++) await host.documents.write(creation({ workspaceId: 'w', id: `long${i}` }, 'x'.repeat(4 << 20)))
    await write(host, 'd1')
    imageOf('a', 'b')
    await close(host)
    const db = new DatabaseSync(`${pathIn('b')}`, { readOnly: true })
    expect(db.prepare("select count(*) as n from documents where id like 'long%'").get()).toEqual({ n: 5 })
    db.close()
    rmSync(`${pathIn('b')}-wal`)
    await refused('b', /older than the mark/)
  })

  it('[LIFE-5] a store whose file is missing is refused', async () => {
    const host = await open()
    await write(host, 'd1')
    await close(host)
    rmSync(pathIn('a'))
    await refused('a', /it is missing/)
    expect(existsSync(pathIn('a'))).toBe(false)
  })

  it('[LIFE-5] a store whose file is empty is refused', async () => {
    await close(await open())
    writeFileSync(pathIn('a'), '')
    await expect(open()).rejects.toThrow(/it is missing/)
  })

  it('[LIFE-5] a store replaced by an older copy of itself is refused', async () => {
    const host = await open()
    await write(host, 'd1')
    await close(host)
    copyFileSync(pathIn('a'), join(folder, 'copy'))
    const again = await open()
    await write(again, 'd2')
    await close(again)
    renameSync(join(folder, 'copy'), pathIn('a'))
    await refused('a', /older than the mark/)
  })

  it('[LIFE-5] a store replaced by another store is refused', async () => {
    await close(await open('a'))
    await close(await open('b'))
    copyFileSync(pathIn('b'), pathIn('a'))
    await refused('a', /another store/)
  })

  it('[CFG-11] a store whose loss is accepted opens, and later opens without a further acceptance', async () => {
    const host = await open()
    await write(host, 'd1')
    await close(host)
    rmSync(pathIn('a'))
    const url = `sqlite:${pathIn('a')}`
    const database = await openDatabase(url, { synchronous: 'FULL', onLoss: 'accept' }, silentLogger)
    expect(database.losses.map(({ kind }) => kind)).toEqual(['missing'])
    await database.close()
    await close(await open())
  })
})

describe('a write-ahead log with an unreadable end', () => {
  /** Opens a store as a crash leaves it, with the last transaction of its log changed. Returns the warnings of the start. */
  const warningsAfter = async (change: (log: Buffer) => Buffer) => {
    const host = await open()
    await write(host, 'd1', 'd2')
    imageOf('a', 'b')
    await close(host)
    const path = `${pathIn('b')}-wal`
    writeFileSync(path, change(readFileSync(path)))
    const warnings: [string, unknown][] = []
    const log = { ...silentLogger, warn: (event: string, _: string, fields?: object) => void warnings.push([event, fields]) }
    const opened = await openHost(`sqlite:${pathIn('b')}`, { log })
    const found = await documents(opened)
    await close(opened)
    await close(await openHost(`sqlite:${pathIn('b')}`, { log }))
    return { warnings, found, path }
  }
  const FRAME = 24 + 4096

  it('[LIFE-5] a store whose log has an unreadable end opens without that end, and logs its size once', async () => {
    let left = 0
    const { warnings, found, path } = await warningsAfter((log) => {
      left = FRAME - 100
      return log.subarray(0, log.byteLength - 100)
    })
    expect(found).toEqual(['d1', 'd2'])
    expect(warnings).toEqual([
      ['storage.log_tail', { file: path, offset: expect.any(Number), bytes: expect.any(Number), frames: expect.any(Number) }],
    ])
    expect(warnings.map(([, fields]) => (fields as { bytes: number }).bytes % FRAME)).toEqual([left])
  })

  it('[LIFE-5] changed bytes at the end of the write-ahead log give the same warning as a torn end', async () => {
    const { warnings } = await warningsAfter((log) => {
      const at = log.byteLength - 50
      log.writeUInt8(log.readUInt8(at) ^ 1, at)
      return log
    })
    expect(warnings.map(([event]) => event)).toEqual(['storage.log_tail'])
  })

  it('[LIFE-5] a write-ahead log that ends with a complete transaction gives no warning', async () => {
    expect((await warningsAfter((log) => log)).warnings).toEqual([])
  })
})

describe('a store that lost nothing', () => {
  it('[LIFE-5] a store opens after a kill at any moment', async () => {
    const host = await open()
    imageOf('a', 'before')
    await write(host, 'd1')
    imageOf('a', 'after')
    await close(host)
    for (const name of ['before', 'after']) await close(await open(name))
    expect(await documents(await open('after'))).toEqual(['d1'])
  })

  it('[LIFE-5] a store opens after another program has checkpointed its write-ahead log', async () => {
    const host = await open()
    await write(host, 'd1')
    imageOf('a', 'b')
    await close(host)
    const db = new DatabaseSync(pathIn('b'))
    db.prepare('select count(*) from documents').get()
    db.close()
    expect(existsSync(`${pathIn('b')}-wal`)).toBe(false)
    const opened = await open('b')
    expect(await documents(opened)).toEqual(['d1'])
    await close(opened)
  })

  it('[LIFE-29] a store without a mark, as earlier releases leave it, opens and then has one', async () => {
    await close(await open())
    rmSync(markPathOf(pathIn('a')))
    await close(await open())
    expect(readMark(pathIn('a'))).not.toBeNull()
  })

  it('[LIFE-5] a store whose mark is damaged opens', async () => {
    await close(await open())
    const text = readFileSync(markPathOf(pathIn('a')), 'utf8')
    writeFileSync(markPathOf(pathIn('a')), text.replace('"number":', '"numbes":'))
    await close(await open())
  })

  it('[LIFE-5] a copied store opens, alone or with the files beside it', async () => {
    const host = await open()
    await write(host, 'd1')
    await close(host)
    cpSync(join(folder, 'a'), join(folder, 'b'), { recursive: true })
    cpSync(pathIn('a'), pathIn('c'))
    for (const name of ['b', 'c']) {
      const opened = await open(name)
      expect(await documents(opened)).toEqual(['d1'])
      await close(opened)
    }
  })

  it('[LIFE-5] a store opens after a kill between any two steps of writing its mark', async () => {
    const host = await open()
    await write(host, 'd1')
    const mark = readMark(pathIn('a'))
    if (mark === null) throw new Error('there is no mark')
    await close(host)
    // The process was killed after the commit: the store has the new number, and the file the previous one.
    writeMark(pathIn('a'), mark)
    await close(await open())
    // The process was killed before the rename: the new file is complete or cut off.
    for (const rest of [markText({ ...mark, number: 99 }), '{"sto']) {
      writeFileSync(`${markPathOf(pathIn('a'))}.new`, rest)
      await close(await open())
    }
  })
})

describe('comparing a store with its mark', () => {
  const mark = { store: 'store-1', number: 7 }
  it.each([
    ['no mark', null, { kind: 'none' }, undefined],
    ['no store', mark, { kind: 'none' }, 'missing'],
    ['a store without mark', mark, { kind: 'store', store: null, number: null }, 'older'],
    ['a lower number', mark, { kind: 'store', store: 'store-1', number: 6 }, 'older'],
    ['the same number', mark, { kind: 'store', store: 'store-1', number: 7 }, undefined],
    ['a higher number', mark, { kind: 'store', store: 'store-1', number: 8 }, undefined],
    ['another store', mark, { kind: 'store', store: 'store-2', number: 9 }, 'replaced'],
  ] as const)('[LIFE-5] comparing a store with its mark gives the result in the table for %s', (_, known, found, kind) => {
    expect(lossByMark(known, found)?.kind).toBe(kind)
  })

  it('[LIFE-5] the mark of a store is read back as written, and a changed mark is not read', () => {
    expect(parseMark(markText(mark))).toEqual(mark)
    expect(parseMark(markText(mark).replace('7', '8'))).toBeNull()
    expect(parseMark('')).toBeNull()
  })
})
