import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { binaryColumns } from '../backup/backup.ts'
import { readFileOf } from '../backup/hashed-files.ts'
import { type Manifest, rowFileOf } from '../backup/manifest.ts'
import { decodeRows, encodeRow } from '../backup/row-file.ts'

export function manifestOf(backup: string): Manifest {
  return JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as Manifest
}

/** Returns hashes of the rows of each table, sorted, because an engine returns rows in any order. */
export async function rowsOf(backup: string): Promise<Record<string, readonly string[]>> {
  const tables: Record<string, readonly string[]> = {}
  for (const table of manifestOf(backup).store.tables) {
    const hashes: string[] = []
    for await (const row of decodeRows(readFileOf(backup, rowFileOf(table)), binaryColumns(table))) {
      const hash = createHash('sha256')
      for (const part of encodeRow(row)) hash.update(part)
      hashes.push(hash.digest('hex'))
    }
    tables[table.name] = hashes.sort()
  }
  return tables
}
