import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export type FileContent =
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly worldReadable: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** Reads at most `maxBytes` + 1 bytes of a file, pipe or device, so that a huge or endless one does not fill memory. */
export function readAtMost(path: string, maxBytes: number): FileContent {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    return faultOf(error)
  }
  try {
    const buffer = Buffer.alloc(maxBytes + 1)
    let length = 0
    for (;;) {
      const count = readSync(fd, buffer, length, buffer.length - length, null)
      length += count
      if (count === 0 || length === buffer.length) break
    }
    const stat = fstatSync(fd)
    return { kind: 'read', bytes: buffer.subarray(0, length), worldReadable: stat.isFile() && (stat.mode & 0o004) !== 0 }
  } catch (error) {
    return faultOf(error)
  } finally {
    closeSync(fd)
  }
}

function faultOf(error: unknown): FileContent {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown fault'
  return code === 'ENOENT' ? { kind: 'missing' } : { kind: 'unreadable', reason: code }
}
