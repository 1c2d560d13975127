import type { Command } from './command.ts'
import { UsageError } from './command.ts'
import { onStore, STORE_OPTIONS } from './tool-options.ts'

/** The command `repair`. [CFG-11] */
export const repairCommand: Command = {
  name: 'repair',
  usage: '<doc> [--workspace <id>] [--config <file>] [--data-dir <dir>]',
  summary: 'makes a document whose log has a gap or cannot be read work again, beside a running relay or without one',
  options: { ...STORE_OPTIONS, workspace: { type: 'string' } },
  words: 1,
  run(call, io) {
    const [id] = call.words
    if (id === undefined) throw new UsageError('repair needs the id of a document')
    return onStore(call, io, async (options) => {
      const { runRepair } = await import('../compose/tools.ts')
      const { kind, lines } = await runRepair(options, id, call.text('workspace') ?? null)
      const write = kind !== 'refused' ? io.stdout : (line: string) => io.stderr(`relay: ${line}`)
      for (const line of lines) write(`${line}\n`)
      return kind === 'refused' ? 1 : 0
    })
  },
}
