import { readdirSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Lane, LANES, patternsOf } from './test-lanes.ts'
import { scaledRuns } from './scaled-laws.ts'

const ROOT = join(import.meta.dirname, '..')
const FILES = ['packages', 'scripts', 'bench']
  .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))

const lanesOf = (file: string): readonly Lane[] =>
  LANES.filter((lane) => {
    const { include, exclude } = patternsOf(lane)
    return include.some((glob) => matchesGlob(file, glob)) && !exclude.some((glob) => matchesGlob(file, glob))
  })

describe('lanes of test files', () => {
  it('every test file is in exactly one lane', () => {
    expect(FILES.length).toBeGreaterThan(250)
    expect(FILES.filter((file) => lanesOf(file).length !== 1)).toEqual([])
  })

  it.each([
    ['packages/server/src/sync/room/room-edit.time.test.ts', 'time'],
    ['packages/console/src/test/speed.browser.time.test.ts', 'page-time'],
    ['packages/server/src/sync/remote/gateway-remote.test.ts', 'repeats'],
    ['packages/server/src/sync/remote/remote-calls.test.ts', 'stories'],
    ['packages/server/src/test/e2e/mcp-tool-laws.test.ts', 'stories'],
    ['packages/server/src/test/e2e/durability.long.test.ts', 'long'],
    ['packages/server/src/drivers/sql/blob-model.test.ts', 'engines'],
    ['packages/server/src/blobs/blob-store.contract.test.ts', 'engines'],
    ['packages/server/src/sync/binding/binding-law.test.ts', 'laws'],
    ['packages/server/src/sync/room/room-hostile.test.ts', 'laws'],
    ['packages/console/src/test/sign-in.browser.test.ts', 'browser'],
    ['packages/model/src/paging.test.ts', 'unit'],
  ])('%s is in the lane %s', (file, lane) => {
    expect(lanesOf(file).map(({ name }) => name)).toEqual([lane])
  })

  it('a limit that a test or hook has of its own stretches while the machine is busy', () => {
    const fixed = /^\s*\}, \d\d+_000\)$|^\s*(?:\{ )?timeout: \d\d+_000,?(?: \},)?$|^(?:it|test)\b.*timeout: \d/m
    expect(
      ['  }, 30_000)', '    timeout: 60_000,', "it('x', { timeout: 5_000 }, () => {"].filter((line) => !fixed.test(line)),
    ).toEqual([])
    expect(FILES.filter((file) => fixed.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
  })

  it('a file that imports other test files, or replaces a module, shares its modules with no other file', () => {
    const needsOwn = FILES.filter((file) => {
      const source = readFileSync(join(ROOT, file), 'utf8')
      return /^(await )?import\(?.*\.test\.ts'/m.test(source) || /^vi\.mock\(/m.test(source)
    })
    expect(needsOwn.length).toBeGreaterThan(1)
    expect(needsOwn.filter((file) => lanesOf(file)[0]?.sharesModules !== false)).toEqual([])
  })

  it('a file that starts the relay gets a bundle of it, and one that opens PostgreSQL gets a server', () => {
    const misplaced = FILES.filter((file) => {
      const source = readFileSync(join(ROOT, file), 'utf8')
      const [lane] = lanesOf(file)
      if (/from '.*\/(relay-under-test|shared-relay|stores-under-test)\.ts'/.test(source)) return lane?.startsRelay !== true
      return /from '.*\/postgres-under-test\.ts'/.test(source) && lane?.needsPostgres !== true
    })
    expect(misplaced).toEqual([])
  })
})

describe('laws run outside their lane', () => {
  it.each([
    [1_000, 200],
    [100, 25],
    [20, 20],
  ])('a law with %i runs runs %i times', (wanted, runs) => {
    expect(scaledRuns(wanted, 0.2)).toBe(runs)
  })
})
