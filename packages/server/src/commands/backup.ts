import { resolve } from 'node:path'
import { counted } from '../kernel/counted.ts'
import { type Command, UsageError } from './command.ts'
import { onStore, STORE_OPTIONS } from './tool-options.ts'

/** The command `backup`. [OPS-9] */
export const backupCommand: Command = {
  name: 'backup',
  usage: '<dir> [--blobs] [--config <file>] [--data-dir <dir>]',
  summary: 'copies the store into a new folder, beside a running relay; blobs of an object store only with --blobs',
  options: { ...STORE_OPTIONS, blobs: { type: 'boolean' } },
  words: 1,
  run(call, io) {
    const [name] = call.words
    if (name === undefined) throw new UsageError('backup needs the folder to write into')
    return onStore(call, io, async (options) => {
      const { runBackup } = await import('../compose/tools.ts')
      const done = await runBackup(options, resolve(io.cwd, name), call.flag('blobs'))
      io.stdout(`${name} written: ${counted(done.rows, 'row')} and ${counted(done.blobs, 'blob')}, ${done.bytes} bytes\n`)
      for (const hash of done.lostBlobs) io.stderr(`blob ${hash} is missing or damaged in the store and not in the backup\n`)
      for (const table of done.others) io.stderr(`the table ${table} is not the relay's and not in the backup\n`)
      for (const { detail } of done.losses) io.stderr(`the backup lacks acknowledged writes that the store has lost: ${detail}\n`)
      return done.lostBlobs.length + done.losses.length === 0 ? 0 : 1
    })
  },
}

/** The command `restore`. [OPS-10] */
export const restoreCommand: Command = {
  name: 'restore',
  usage: '<dir> [--config <file>] [--data-dir <dir>]',
  summary: 'checks a backup and restores it into an empty store; the relay must not run',
  options: STORE_OPTIONS,
  words: 1,
  run(call, io) {
    const [name] = call.words
    if (name === undefined) throw new UsageError('restore needs the folder of the backup')
    return onStore(call, io, async (options) => {
      const { runRestore } = await import('../compose/tools.ts')
      const { manifest, rows, blobs, others } = await runRestore(options, resolve(io.cwd, name))
      io.stdout(`${name} of ${manifest.createdAt} restored: ${counted(rows, 'row')} and ${counted(blobs, 'blob')}\n`)
      for (const hash of manifest.lostBlobs) io.stderr(`blob ${hash} was lost before the backup was made\n`)
      for (const table of others) io.stderr(`the table ${table} of the backup is not the relay's and was not restored\n`)
      for (const loss of manifest.losses ?? [])
        io.stderr(`the backup was made of a store that had lost acknowledged writes: ${loss}\n`)
      if (manifest.blobs === 'elsewhere') io.stderr('the backup has no blobs: they must still be in the object store\n')
      return 0
    })
  },
}
