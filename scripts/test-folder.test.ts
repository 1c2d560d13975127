import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasRoom, openTestFolder, removeLeftOvers } from './test-folder.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'test-folder-'))
})
afterEach(() => rmSync(base, { recursive: true }))

describe('the folder of a test run', () => {
  it('a folder is only used when it is there and has enough free space', () => {
    expect([hasRoom(base, 1), hasRoom(base, Number.MAX_SAFE_INTEGER), hasRoom(join(base, 'none'), 1)]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('folders of runs that were killed are removed, and those of running ones and other folders stay', () => {
    // Above the highest process id of Linux.
    const names = ['docrelay-tests-5000000', `docrelay-tests-${process.pid}`, 'docrelay-tests-x', 'other']
    for (const name of names) mkdirSync(join(base, name, 'data'), { recursive: true })
    removeLeftOvers(base)
    expect(names.map((name) => existsSync(join(base, name)))).toEqual([false, true, true, true])
  })

  it('TMPDIR names the place of the folder, which is gone after the run', () => {
    const folder = openTestFolder({ TMPDIR: tmpdir() })
    expect([folder.path.startsWith(tmpdir()), existsSync(folder.path)]).toEqual([true, true])
    folder.remove()
    expect(existsSync(folder.path)).toBe(false)
  })
})
