import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Environment } from '../config/environment-source.ts'

/** What a command may touch of the process. Results go to stdout, everything else to stderr. [CFG-12] */
export interface CommandIo {
  readonly env: Environment
  readonly cwd: string
  stdout(text: string): void
  stderr(text: string): void
  /** Calls back once at the first SIGTERM or SIGINT; later ones change nothing. [LIFE-28] */
  onStopSignal(callback: () => void): void
  /** Calls back once with an exception that nobody caught, which from then on does not end the process by itself. */
  onCrash(callback: (error: unknown) => void): void
}

/** 0 success, 1 failure or damage found, 2 usage or configuration. [CFG-12] */
export type ExitCode = 0 | 1 | 2

export interface Command {
  /** As typed, e.g. `config check`. */
  readonly name: string
  /** What follows the name. */
  readonly usage: string
  readonly summary: string
  readonly options: NonNullable<ParseArgsConfig['options']>
  /** How many words may follow that are no options. */
  readonly words: number
  run(call: CommandCall, io: CommandIo): Promise<ExitCode>
}

export interface CommandCall {
  readonly words: readonly string[]
  text(option: string): string | undefined
  flag(option: string): boolean
}

/** Options every command that reads the configuration takes. */
export const CONFIG_OPTION = { config: { type: 'string' } } as const satisfies Command['options']

/** A wrong command line; its message is one line. */
export class UsageError extends Error {}

/** The words and options of a call, or a `UsageError`. */
export function parseCall(command: Command, args: readonly string[]): CommandCall {
  const { values, positionals } = parseStrictly(command, args)
  if (positionals.length > command.words)
    throw new UsageError(`unexpected argument ${JSON.stringify(positionals[command.words])}`)
  return {
    words: positionals,
    text: (option) => (typeof values[option] === 'string' ? values[option] : undefined),
    flag: (option) => values[option] === true,
  }
}

function parseStrictly(command: Command, args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: command.options, allowPositionals: true, strict: true })
  } catch (error) {
    // The first sentence names the option; the rest advises on escaping.
    const message = error instanceof Error ? error.message : 'bad arguments'
    throw new UsageError((message.split('. ')[0] ?? message).split('\n')[0])
  }
}
