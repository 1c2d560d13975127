import { link, mkdir, mkdtemp, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openBodies } from '../documents/bodies.ts'
import { silentLogger } from '../kernel/log.ts'
import { type LocalDocuments, openLocalDocuments } from './local-documents.ts'

const bodies = openBodies({ maxBytes: 1024, log: silentLogger })
afterAll(() => bodies[Symbol.asyncDispose]())

let parent: string
let directory: string
let local: LocalDocuments
let looks: string[]
let lines: { readonly event: string; readonly docId?: unknown; readonly reason?: unknown }[]

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'local-documents-'))
  directory = join(parent, 'docs')
  await mkdir(directory)
  looks = []
  lines = []
  local = openLocalDocuments({
    directory,
    workspaceId: 'default',
    bodies: {
      local(bytes, id) {
        looks.push(id)
        return bodies.local(bytes, id)
      },
    },
    log: { warn: (event, _, fields) => lines.push({ event, ...fields }) },
  })
  return () => rm(parent, { recursive: true })
})

const file = (id: string) => join(directory, `${id}.json`)
const put = (id: string, body: unknown) => writeFile(file(id), typeof body === 'string' ? body : JSON.stringify(body))
const titles = async () => Object.fromEntries((await local.list()).map(({ id, facts }) => [id, facts.title]))

const LIST_FORM = { name: 'L', pages: [{ id: 'c', name: 'C', shapes: [] }], richTextPages: [{ id: 'r', name: 'R', content: '' }] }
const KEYED_FORM = {
  title: 'K',
  pages: { c: { id: 'c', name: 'C', shapes: {}, shapeOrder: [] } },
  pageOrder: ['c'],
  richTextPages: { pages: { r: { id: 'r', name: 'R', content: '<p>a</p>', order: 0 } }, pageOrder: ['r'] },
}

describe('a directory of local documents', () => {
  it('[LOCAL-1] a body of either form is read, and the file name is its id', async () => {
    await put('list', { ...LIST_FORM, id: 'another' })
    await put('keyed', KEYED_FORM)
    await writeFile(join(directory, 'notes.txt'), 'x')
    expect(lines).toEqual([])
    expect(await titles()).toEqual({ list: 'L', keyed: 'K' })
    expect(await local.head('keyed')).toMatchObject({ source: 'local', facts: { canvasPageCount: 1, prosePageCount: 1 } })
    const { body } = (await local.read('list')) ?? {}
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual({ ...LIST_FORM, id: 'list' })
  })

  it('[LOCAL-2] file changes in the directory are noticed at run time, and only changed files are read', async () => {
    expect(await titles()).toEqual({})
    await put('a', { ...LIST_FORM, name: 'One' })
    expect(await titles()).toEqual({ a: 'One' })
    for (let i = 0; i < 3; i++) await Promise.all([local.read('a'), local.list(), local.head('a')])
    expect(looks).toEqual(['a'])
    await put('a', { ...LIST_FORM, name: 'Two' })
    expect((await local.read('a'))?.head.facts.title).toBe('Two')
    expect(await titles()).toEqual({ a: 'Two' })
    await utimes(file('a'), 1_000, 1_000)
    expect((await local.head('a'))?.updatedAtMs).toBe(1_000_000)
    await rm(file('a'))
    expect([await local.read('a'), await local.head('a'), await titles()]).toEqual([null, null, {}])
  })

  it('[LOCAL-2] [TOOL-12] a file that is no local document is skipped, and each of its states is logged once', async () => {
    await writeFile(join(parent, 'outside.json'), JSON.stringify(LIST_FORM))
    await put('inside', LIST_FORM)
    await symlink(join(parent, 'outside.json'), file('leaving'))
    await symlink(file('inside'), file('staying'))
    await link(file('inside'), file('same'))
    await put('broken', '{"name": ')
    await put('array', [])
    await put('a..b', LIST_FORM)
    await put('long', '')
    await truncate(file('long'), 64 * 1024 * 1024 + 1)
    await mkdir(file('folder'))
    for (let i = 0; i < 3; i++) {
      expect(Object.keys(await titles()).sort()).toEqual(['inside', 'same', 'staying'])
      for (const id of ['leaving', 'broken', 'array', 'long', 'folder']) expect(await local.read(id)).toBeNull()
    }
    expect(lines.map(({ docId }) => docId).sort()).toEqual(['a..b', 'array', 'broken', 'folder', 'leaving', 'long'])
    expect(lines.find(({ docId }) => docId === 'long')?.reason).toContain('67108865 bytes and at most 67108864')
    await put('broken', '{')
    await local.list()
    expect(lines.filter(({ docId }) => docId === 'broken')).toHaveLength(2)
    await put('broken', LIST_FORM)
    expect(await local.head('broken')).not.toBeNull()
  })

  it('[LOCAL-2] an id cannot name a file outside the directory', async () => {
    await writeFile(join(parent, 'outside.json'), JSON.stringify(LIST_FORM))
    for (const id of ['../outside', '..', '', 'a\u0000', 'x'.repeat(256)]) expect(await local.read(id)).toBeNull()
  })

  it('[LOCAL-2] a missing directory has no documents until it exists', async () => {
    await rm(directory, { recursive: true })
    expect([await titles(), await titles()]).toEqual([{}, {}])
    expect(lines).toMatchObject([{ event: 'mcp.local_directory', code: 'ENOENT' }])
    await mkdir(directory)
    await put('a', LIST_FORM)
    expect(await titles()).toEqual({ a: 'L' })
  })

  it.each([
    [7, 7],
    [undefined, 0],
    ['7', 0],
    [-1, 0],
    [1.5, 0],
  ])('[LOCAL-5] the version %s of a body is %s', async (serverVersion, version) => {
    await put('a', { ...LIST_FORM, serverVersion })
    expect((await local.head('a'))?.version).toBe(version)
  })

  it('[LOCAL-2] [CONC-13] a long file is parsed in another thread', async () => {
    const content = `<p>${'a'.repeat(4_000_000)}</p>`
    await put('a', { ...LIST_FORM, richTextPages: [{ id: 'r', name: 'R', content }] })
    const record = await local.read('a')
    expect(record?.head.facts).toMatchObject({ title: 'L', filledProsePageCount: 1 })
    expect(record?.body.byteLength).toBeGreaterThan(4_000_000)
  })
})
