import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeFolder } from './folders.ts'

const root = mkdtempSync(join(tmpdir(), 'relay-folders-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const codeOf = (path: string): unknown => {
  try {
    return makeFolder(path, 0o700)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

describe('[CFG-12] making a folder', () => {
  it('[CFG-12] makes what is missing with its mode and names the topmost one', () => {
    expect(makeFolder(join(root, 'a/b/c'), 0o700)).toBe(join(root, 'a'))
    expect(makeFolder(join(root, 'a/b/d'), 0o700)).toBe(join(root, 'a/b/d'))
    expect(makeFolder(join(root, 'a/b/c'), 0o700)).toBeNull()
    expect(statSync(join(root, 'a/b')).mode & 0o777).toBe(0o700)
  })

  it.each(['/proc/relay-test', '/proc/relay-test/below', '/proc/self/fd/relay-test'])(
    '[CFG-12] ends with an error where the system takes no folder: %s',
    (path) => {
      expect(() => makeFolder(path, 0o700)).toThrow(/the folder \/proc\/\S+ cannot be made: E/)
    },
  )

  it('[CFG-12] refuses a file in the way, a file as parent and a link to nothing', () => {
    writeFileSync(join(root, 'file'), '')
    symlinkSync(join(root, 'nowhere', 'deep'), join(root, 'dangling'))
    expect(codeOf(join(root, 'file'))).toBe('EEXIST')
    expect(codeOf(join(root, 'file/below'))).toBe('ENOTDIR')
    expect(codeOf(join(root, 'dangling'))).toBe('EEXIST')
    expect(codeOf(join(root, 'dangling/below'))).toBe('EEXIST')
  })
})
