import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, type TestContext } from 'vitest'
import { relayProgram, stampOfSources } from '../packages/server/bin/built-relay.js'
import { digestOf } from './relay-bundle.ts'

interface Tree {
  readonly packages: string
  readonly server: string
  write(path: string, text: string): void
}

/** Three packages with a source file each. */
function sources({ onTestFinished }: TestContext): Tree {
  const packages = mkdtempSync(join(tmpdir(), 'docrelay-built-'))
  onTestFinished(() => rmSync(packages, { recursive: true }))
  const write = (path: string, text: string): void => {
    mkdirSync(join(packages, path, '..'), { recursive: true })
    writeFileSync(join(packages, path), text)
  }
  for (const name of ['model', 'protocol', 'server']) write(`${name}/src/main.ts`, name)
  return { packages, server: join(packages, 'server'), write }
}

function build({ packages, write }: Tree): void {
  write('server/dist/main.mjs', 'built')
  write('server/dist/sources', stampOfSources(packages))
}

it('relay runs the sources where nothing is built', (context) => {
  const { server } = sources(context)
  expect(relayProgram(server)).toEqual({ program: join(server, 'src/main.ts'), isStale: false })
})

it('relay runs the bundle that was made of the sources', (context) => {
  const tree = sources(context)
  build(tree)
  expect(relayProgram(tree.server)).toEqual({ program: join(tree.server, 'dist/main.mjs'), isStale: false })
})

it('relay runs the bundle where there are no sources', (context) => {
  const tree = sources(context)
  build(tree)
  rmSync(join(tree.server, 'src'), { recursive: true })
  expect(relayProgram(tree.server)).toEqual({ program: join(tree.server, 'dist/main.mjs'), isStale: false })
})

describe.each<[string, (tree: Tree) => void]>([
  ['written', ({ packages }) => utimesSync(join(packages, 'model/src/main.ts'), 1, 1)],
  ['added', ({ write }) => write('protocol/src/more.ts', '')],
  ['removed', ({ packages }) => rmSync(join(packages, 'model/src/main.ts'))],
])('a source that was %s after the bundle', (_, change) => {
  it('makes it stale, so that relay runs the sources', (context) => {
    const tree = sources(context)
    build(tree)
    change(tree)
    expect(relayProgram(tree.server)).toEqual({ program: join(tree.server, 'src/main.ts'), isStale: true })
  })
})

it('a test that is written leaves the bundle as it is', (context) => {
  const tree = sources(context)
  build(tree)
  tree.write('server/src/main.test.ts', '')
  expect(relayProgram(tree.server).isStale).toBe(false)
})

it('npm start makes its bundle anew when the text of a source is another', (context) => {
  const { packages, write } = sources(context)
  const file = join(packages, 'model/src/main.ts')
  const before = digestOf([file])
  utimesSync(file, 1, 1)
  expect(digestOf([file])).toBe(before)
  write('model/src/main.ts', 'another')
  expect(digestOf([file])).not.toBe(before)
})

it('the bundler is among the packages that `npm start` installs', () => {
  const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: true; readonly dependencies?: Readonly<Record<string, string>> }>>
  }
  expect(packages['packages/console']?.dependencies).toHaveProperty('vite')
  expect(packages['node_modules/vite']?.dependencies).toHaveProperty('rolldown')
  expect(packages['node_modules/vite/node_modules/rolldown']).toBeUndefined()
  expect(packages['node_modules/rolldown']).toBeDefined()
  expect(packages['node_modules/rolldown']).not.toHaveProperty('dev')
})
