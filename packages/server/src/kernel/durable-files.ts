import { type FileHandle, open } from 'node:fs/promises'

/** What `FileHandle.writeFile` does not promise at a position: all bytes, however many the system takes at a time. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0
  while (written < bytes.byteLength) written += (await file.write(bytes, written)).bytesWritten
}

/** Makes the entries of a folder durable: what was made, renamed or removed in it. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
