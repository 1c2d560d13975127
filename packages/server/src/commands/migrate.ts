import type { Command } from './command.ts'
import { onStore, STORE_OPTIONS } from './tool-options.ts'

/** [LIFE-29] */
export const migrateCommand: Command = {
  name: 'migrate',
  usage: '[--plan] [--config <file>] [--data-dir <dir>]',
  summary: 'backs the database up and applies pending store migrations; --plan only lists them',
  options: { ...STORE_OPTIONS, plan: { type: 'boolean' } },
  words: 0,
  run(call, io) {
    return onStore(call, io, async (options) => {
      const { runMigrate, runPlan } = await import('../compose/tools.ts')
      const planOnly = call.flag('plan')
      const { steps, backup } = planOnly ? { steps: await runPlan(options), backup: null } : await runMigrate(options)
      if (steps.length === 0) io.stdout('the store is up to date\n')
      if (backup !== null) io.stdout(`backup ${backup}\n`)
      for (const { name, safe, bytes } of steps) {
        const by = safe ? 'relay serve does it as well' : 'needs relay migrate'
        io.stdout(`${planOnly ? 'pending' : 'applied'} ${name}: passes over about ${bytes} bytes; ${by}\n`)
      }
      return 0
    })
  },
}
