import type { Command } from './command.ts'

/** Commands of the command line that this version does not have yet: they say so and do nothing. */
export const laterCommands: readonly Command[] = [
  later('backup', '<dir> [--blobs]', 'copies the store beside a running server', 1, ['blobs']),
  later('restore', '<dir>', 'restores a backup into an empty store', 1, []),
  later('verify', '[--json]', 'reads the whole store and reports damage', 0, ['json']),
  later('migrate', '[--plan]', 'applies pending store migrations after a backup', 0, ['plan']),
]

function later(name: string, usage: string, summary: string, words: number, flags: readonly string[]): Command {
  return {
    name,
    usage,
    summary: `${summary} (not available yet)`,
    options: Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' as const }])),
    words,
    run(_call, io) {
      io.stderr(`relay ${name} is not available yet; nothing was read or changed\n`)
      return Promise.resolve(1)
    },
  }
}
