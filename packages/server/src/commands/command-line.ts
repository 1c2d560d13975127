import { backupCommand, restoreCommand } from './backup.ts'
import { type Command, type CommandIo, type ExitCode, parseCall, UsageError } from './command.ts'
import { configCheck, configPrint } from './config.ts'
import { init } from './init.ts'
import { migrateCommand } from './migrate.ts'
import { repairCommand } from './repair.ts'
import { type LoadRelay, serveCommand } from './serve.ts'
import { verifyCommand } from './verify.ts'

export interface CommandLineOptions {
  readonly version: string
  readonly loadRelay: LoadRelay
}

/** Runs the command that the arguments name. Without a command it shows the help as a usage error. [CFG-11, CFG-12] */
export async function runCommandLine(args: readonly string[], io: CommandIo, options: CommandLineOptions): Promise<ExitCode> {
  const commands: readonly Command[] = [
    init,
    serveCommand(options.loadRelay),
    configCheck,
    configPrint,
    backupCommand,
    restoreCommand,
    verifyCommand,
    repairCommand,
    migrateCommand,
  ]
  const [first] = args
  if (first === '--version') {
    io.stdout(`relay ${options.version}\n`)
    return 0
  }
  if (first === 'help' || first === '--help' || first === '-h') return help(commands, args.slice(1), io)
  if (first === undefined) {
    io.stderr(overview(commands))
    return 2
  }
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word))
  if (command === undefined) return usage(`unknown command ${JSON.stringify(first.slice(0, 80))}`, io)
  const rest = args.slice(command.name.split(' ').length)
  if (rest.includes('--help')) return help(commands, command.name.split(' '), io)
  try {
    return await command.run(parseCall(command, rest), io)
  } catch (error) {
    if (error instanceof UsageError) return usage(error.message, io)
    throw error
  }
}

function usage(problem: string, io: CommandIo): ExitCode {
  io.stderr(`relay: ${problem}; \`relay help\` lists the commands\n`)
  return 2
}

function help(commands: readonly Command[], words: readonly string[], io: CommandIo): ExitCode {
  if (words.length === 0) {
    io.stdout(overview(commands))
    return 0
  }
  const wanted = words.join(' ')
  const found = commands.filter(({ name }) => name === wanted || name.startsWith(`${wanted} `))
  if (found.length === 0) return usage(`unknown command ${JSON.stringify(wanted.slice(0, 80))}`, io)
  for (const { name, usage: form, summary } of found) io.stdout(`relay ${name} ${form}\n  ${summary}\n`)
  return 0
}

function overview(commands: readonly Command[]): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(14)} ${summary}`)
  return [
    'Docrelay: a document relay server',
    '',
    'usage: relay <command> [options]',
    '',
    ...lines,
    `  ${'help'.padEnd(14)} shows this, or with a command its options`,
    `  ${'--version'.padEnd(14)} shows the version`,
    '',
    'Exit codes: 0 success, 1 failure or damage found, 2 usage or configuration.',
    '',
  ].join('\n')
}
