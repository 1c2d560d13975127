import { counted } from '../kernel/counted.ts'
import type { Finding } from '../verify/verify.ts'
import type { Command } from './command.ts'
import { onStore, STORE_OPTIONS } from './tool-options.ts'

/** The command `verify`. [OPS-11] */
export const verifyCommand: Command = {
  name: 'verify',
  usage: '[--json] [--config <file>] [--data-dir <dir>]',
  summary: 'reads everything stored, changes nothing, and reports damage, one finding per line',
  options: { ...STORE_OPTIONS, json: { type: 'boolean' } },
  words: 0,
  run(call, io) {
    const asJson = call.flag('json')
    return onStore(call, io, async (options) => {
      const { runVerify } = await import('../compose/tools.ts')
      const report = (finding: Finding) => io.stdout(asJson ? `${JSON.stringify(finding)}\n` : `${lineOf(finding)}\n`)
      const summary = await runVerify(options, report)
      const { documents, points, blobs, damages, notes, setAside } = summary
      if (asJson) io.stdout(`${JSON.stringify({ summary })}\n`)
      else
        io.stdout(
          `read: ${counted(documents, 'document')}, ${counted(points, 'recovery point')}, ${counted(blobs, 'blob')}; ` +
            `found: damage ${damages}, notes ${notes}; set aside earlier: ${setAside}\n`,
        )
      return damages === 0 ? 0 : 1
    })
  },
}

function lineOf({ level, what, workspace, docId, hash, detail }: Finding): string {
  const where =
    what === 'document'
      ? `document ${JSON.stringify(docId)} of workspace ${JSON.stringify(workspace)}`
      : what === 'blob'
        ? `blob ${hash}`
        : 'store'
  // A finding is printed on one line, even if a name contains line breaks.
  return `${level}: ${where}: ${detail.replaceAll(/\s+/g, ' ')}`
}
