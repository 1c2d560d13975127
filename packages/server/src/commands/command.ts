import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Environment } from '../config/environment-source.ts'

/** The parts of the process that a command may use. Results go to stdout, everything else to stderr. [CFG-12] */
export interface CommandIo {
  readonly env: Environment
  readonly cwd: string
  stdout(text: string): void
  stderr(text: string): void
  /** Calls `callback` once, at the first SIGTERM or SIGINT; later signals do nothing. [LIFE-28] */
  onStopSignal(callback: () => void): void
  /**
   * Calls `callback` once with an exception that nobody caught. From then on such an exception does not end the process
   * by itself.
   */
  onCrash(callback: (error: unknown) => void): void
  /**
   * Stores compiled code in `folder`, for this process, its threads and later starts; the parent of the folder must
   * exist. Does nothing when the folder cannot be written, or when NODE_COMPILE_CACHE names another one.
   */
  keepCompiledCode(folder: string): void
}

/** 0 success, 1 failure or damage found, 2 usage or configuration. [CFG-12] */
export type ExitCode = 0 | 1 | 2

export interface Command {
  /** Name as typed, e.g. `config check`. */
  readonly name: string
  /** The rest of the usage line, after the name. */
  readonly usage: string
  readonly summary: string
  readonly options: NonNullable<ParseArgsConfig['options']>
  /** Most words, besides options, that may follow the name. */
  readonly words: number
  run(call: CommandCall, io: CommandIo): Promise<ExitCode>
}

export interface CommandCall {
  readonly words: readonly string[]
  text(option: string): string | undefined
  flag(option: string): boolean
}

/** Options of every command that reads the configuration. */
export const CONFIG_OPTION = { config: { type: 'string' } } as const satisfies Command['options']

/** The command line is wrong; the message is one line. */
export class UsageError extends Error {}

/** Returns the words and options of a call; throws `UsageError`. */
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
    // Only the first sentence names the option; the rest is advice about escaping.
    const message = error instanceof Error ? error.message : 'bad arguments'
    throw new UsageError((message.split('. ')[0] ?? message).split('\n')[0])
  }
}
