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

describe('[CFG-12] creating a folder', () => {
  it('[CFG-12] missing folders are created with the given mode, and the topmost one is returned', () => {
    expect(makeFolder(join(root, 'a/b/c'), 0o700)).toBe(join(root, 'a'))
    expect(makeFolder(join(root, 'a/b/d'), 0o700)).toBe(join(root, 'a/b/d'))
    expect(makeFolder(join(root, 'a/b/c'), 0o700)).toBeNull()
    expect(statSync(join(root, 'a/b')).mode & 0o777).toBe(0o700)
  })

  it.each(['/proc/relay-test', '/proc/relay-test/below', '/proc/self/fd/relay-test'])(
    '[CFG-12] creating fails where the system allows no folder: %s',
    (path) => {
      expect(() => makeFolder(path, 0o700)).toThrow(/the folder \/proc\/\S+ cannot be made: E/)
    },
  )

  it('[CFG-12] a file in the way, a file as parent and a dangling link are refused', () => {
    writeFileSync(join(root, 'file'), '')
    symlinkSync(join(root, 'nowhere', 'deep'), join(root, 'dangling'))
    expect(codeOf(join(root, 'file'))).toBe('EEXIST')
    expect(codeOf(join(root, 'file/below'))).toBe('ENOTDIR')
    expect(codeOf(join(root, 'dangling'))).toBe('EEXIST')
    expect(codeOf(join(root, 'dangling/below'))).toBe('EEXIST')
  })
})
