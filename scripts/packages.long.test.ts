import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { build as bundleByEsbuild } from 'esbuild'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import webpack from 'webpack'
import { patience } from '../packages/server/src/kernel/testing/patience.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../packages/server/src/test/relay-under-test.ts'
import { type InstalledProject, installedProject } from './installed-project.ts'
import { packPackages } from './pack-packages.ts'

const TSC = join(import.meta.dirname, '../node_modules/.bin/tsc')
const VITE = join(import.meta.dirname, '../node_modules/.bin/vite')
const OTHERS = [
  'yjs',
  'y-protocols',
  'parse5',
  'ws',
  'y-prosemirror',
  'prosemirror-model',
  'prosemirror-state',
  'prosemirror-view',
]
/** Limit on the compressed size that the client adds to a page that already has yjs. */
const CLIENT_GZIP_BYTES = 17_000

const APPLICATION = `
import { createRelay, NeedsSignIn, RelayError, type DocumentState } from '@docrelay/client'
import { indexedDb } from '@docrelay/client/indexeddb'
import { relayWebSocket } from '@docrelay/client/y-websocket'
import type { DocumentMetadata } from '@docrelay/protocol/rest'
import { nodeSpecs } from '@docrelay/model/prose/schema'

export async function start(token: string): Promise<readonly DocumentMetadata[]> {
  const relay = createRelay({ url: 'https://relay.example', token: () => token, persist: indexedDb() })
  relay.on('event', ({ eventType, docId }) => console.log(eventType, docId))
  const document = relay.open('minutes', { user: { id: 'ann', name: 'Ann', color: '#8250df' } })
  document.on('state', ({ link, saved }: DocumentState) => console.log(link, saved))
  document.on('gone', ({ reason, successor }) => console.log(reason, successor?.length))
  try {
    await document.ready
  } catch (error) {
    if (error instanceof RelayError && error.code === 'ERR_UNKNOWN_DOC') throw new NeedsSignIn()
  }
  console.log(relayWebSocket({ token: () => token }), nodeSpecs.length)
  return (await relay.documents.list({ limit: 5 })).documents
}
`
const IMPORTS = `
import { createRelay, RelayError } from '@docrelay/client'
import { indexedDb } from '@docrelay/client/indexeddb'
import { relayWebSocket } from '@docrelay/client/y-websocket'
import { TAG } from '@docrelay/protocol/frames'
import { parseHtml } from '@docrelay/model/prose/html'
import WebSocket from 'ws'

const names = [createRelay, RelayError, indexedDb, relayWebSocket, parseHtml].map((each) => each.name)
let code = 'none'
try {
  createRelay({ url: 'http://127.0.0.1:9', token: () => 'x' }).open('d').close()
} catch (error) {
  code = error.code
}
console.log(JSON.stringify({ names, code, tag: TAG.joined }))
`
const TWO_CLIENTS = `
import { createRelay } from '@docrelay/client'
import WebSocket from 'ws'

const [url, token] = process.argv.slice(2)
const relay = createRelay({ url, token: () => token, ...(globalThis.WebSocket ? {} : { WebSocket }) })
const id = 'installed-' + process.versions.node
await relay.documents.put(id, { name: id })
const [one, two] = [relay.open(id), relay.open(id)]
await Promise.all([one.ready, two.ready])
const arrived = new Promise((resolve) => two.ydoc.getMap('fields').observe(resolve))
one.ydoc.getMap('fields').set('a', { name: 'a', value: 'from one' })
await Promise.all([arrived, one.flush({ timeoutMs: 20_000 })])
const stored = await relay.documents.get(id)
await relay.close()
console.log(JSON.stringify([two.ydoc.getMap('fields').get('a').value, stored.fields.fields.a.value]))
`

let tarballs: ReadonlyMap<string, string>
let project: InstalledProject
let relay: RelayUnderTest
const target = mkdtempSync(join(tmpdir(), 'docrelay-tarballs-'))
beforeAll(async () => {
  tarballs = packPackages(target)
  ;[project, relay] = await Promise.all([installedProject(tarballs, OTHERS), startRelayUnderTest()])
  project.write('app.ts', APPLICATION)
  project.write('imports.js', IMPORTS)
  project.write('two-clients.js', TWO_CLIENTS)
}, patience(60_000))
afterAll(async () => {
  project?.[Symbol.dispose]()
  rmSync(target, { recursive: true, force: true })
  await relay?.[Symbol.asyncDispose]()
})

/** Returns the Node versions on this machine that the packages support, by path. */
function nodes(): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const path of [
    process.execPath,
    '/usr/bin/node',
    '/usr/local/bin/node',
    ...(process.env['DOCRELAY_TEST_NODES']?.split(':') ?? []),
  ]) {
    try {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim()
      const major = Number(/^v(\d+)/.exec(version)?.[1])
      if (major >= 20 && ![...found.values()].includes(version)) found.set(path, version)
    } catch {
      // This version is not on this machine.
    }
  }
  return found
}

describe('the packages, installed from tarballs into a project outside the repository', () => {
  it.each([...nodes()])('%s imports them, and knows the error of a platform without WebSocket', async (node, version) => {
    const printed = JSON.parse(await project.run(node, ['imports.js'])) as { names: string[]; code: string }
    expect(printed).toEqual({
      names: ['createRelay', 'RelayError', 'indexedDb', 'relayWebSocket', 'parseHtml'],
      code: version.startsWith('v20') ? 'NO_WEBSOCKET' : 'none',
      tag: 18,
    })
  })

  it.each([...nodes().keys()])('two clients under %s edit one document on a relay', async (node) => {
    const token = relay.token({ sub: 'ann', role: 'member' })
    expect(JSON.parse(await project.run(node, ['two-clients.js', relay.baseUrl, token]))).toEqual(['from one', 'from one'])
  })

  it.each(['nodenext', 'bundler'])(
    'tsc accepts an application under moduleResolution %s, declarations checked',
    async (resolution) => {
      const module = resolution === 'bundler' ? 'esnext' : 'nodenext'
      const options = { target: 'es2022', lib: ['es2022', 'dom'], strict: true, noEmit: true, types: [], skipLibCheck: false }
      const config = `tsconfig.${resolution}.json`
      const compilerOptions = { ...options, module, moduleResolution: resolution }
      project.write(config, JSON.stringify({ compilerOptions, files: ['app.ts'] }))
      expect(await project.run(TSC, ['-p', config])).toBe('')
    },
  )

  it('esbuild bundles an application, in which the client weighs little beside yjs', async () => {
    const bundle = async (contents: string, external: string[]) => {
      const stdin = { contents, resolveDir: project.folder, loader: 'ts' as const }
      const options = { bundle: true, minify: true, write: false, format: 'esm', platform: 'browser' } as const
      const { outputFiles, warnings } = await bundleByEsbuild({ ...options, stdin, external, logLevel: 'silent' })
      expect(warnings).toEqual([])
      return gzipSync(outputFiles[0]?.contents ?? '').length
    }
    expect(await bundle(APPLICATION, [])).toBeGreaterThan(CLIENT_GZIP_BYTES)
    const client = await bundle(`export { createRelay, RelayError } from '@docrelay/client'`, ['yjs'])
    console.log(`@docrelay/client in a bundle without yjs: ${client} bytes gzip`)
    expect(client).toBeLessThan(CLIENT_GZIP_BYTES)
  })

  it('vite builds an application', async () => {
    project.write('index.html', '<script type="module" src="./app.ts"></script>')
    await project.run(VITE, ['build', '--logLevel', 'error', '--outDir', 'built'])
    expect(readFileSync(join(project.folder, 'built/index.html'), 'utf8')).toContain('assets/')
  })

  it('webpack bundles an application', async () => {
    project.write('app.mjs', `${stripTypeScriptTypes(APPLICATION)}\nvoid start('token')`)
    const [mode, target] = ['production', 'web'] as const
    const compiler = webpack({
      mode,
      target,
      context: project.folder,
      entry: './app.mjs',
      // The minifier takes four times as long as the bundler and tests nothing of the packages.
      optimization: { minimize: false },
      output: { path: join(project.folder, 'packed') },
    })
    const stats = await promisify(compiler.run.bind(compiler))()
    expect(stats?.compilation.errors).toEqual([])
    expect(readFileSync(join(project.folder, 'packed/main.js'), 'utf8')).toContain('/ws')
  })

  it('publint finds nothing to say', async () => {
    for (const [name, path] of tarballs) {
      const bytes = readFileSync(path)
      const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
      const { messages } = await publint({ pack: { tarball }, strict: true })
      expect([name, messages]).toEqual([name, []])
    }
  })

  it('arethetypeswrong finds nothing wrong for projects with modules', async () => {
    for (const [name, path] of tarballs) {
      const { problems } = (await checkPackage(createPackageFromTarballData(readFileSync(path)))) as {
        problems: { kind: string; resolutionKind?: string }[]
      }
      // The packages are ES modules only; `require` before Node 20.19 and resolution without `exports` are not supported.
      const wrong = problems.filter(({ kind, resolutionKind }) => kind !== 'CJSResolvesToESM' && resolutionKind !== 'node10')
      expect([name, wrong]).toEqual([name, []])
    }
  })

  it('a tarball holds no tests and no sources, and its licence and README', () => {
    for (const path of tarballs.values()) {
      const files = execFileSync('tar', ['tzf', path], { encoding: 'utf8' }).split('\n')
      expect(files).toEqual(expect.arrayContaining(['package/LICENSE', 'package/README.md', 'package/package.json']))
      expect(files.filter((file) => /test|src\/|(?<!\.d)\.ts$/.test(file))).toEqual([])
    }
  })
})
