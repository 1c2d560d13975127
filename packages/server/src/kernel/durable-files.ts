import { type FileHandle, open } from 'node:fs/promises'

/**
 * Writes all bytes at a position, however few the system takes at a time; `FileHandle.writeFile` does not promise that.
 */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0
  while (written < bytes.byteLength) written += (await file.write(bytes, written)).bytesWritten
}

/** Flushes a folder, so that files made, renamed or removed in it survive a power cut. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
