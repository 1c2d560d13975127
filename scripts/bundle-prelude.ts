// The first module of each program and thread of a bundle. It makes stack traces name source lines. It reads its tables only when a trace is
// formatted, so that a start costs nothing.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type SourceLines, sourceFrame, TABLE } from './source-lines.ts'

const tables = new Map<string, SourceLines | null>()

Error.prepareStackTrace = (error, frames) =>
  [headOf(error), ...frames.map((frame) => `    at ${sourceFrame(String(frame), tableOf)}`)].join('\n')

/** Returns the first line of a trace, as V8 writes it. */
function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error)
  } catch {
    return '<error>'
  }
}

function tableOf(url: string): SourceLines | null {
  let table = tables.get(url)
  if (table === undefined) {
    table = read(url)
    tables.set(url, table)
  }
  return table
}

/** Reads a line table; `null` when it is missing or unreadable, because formatting a trace must never fail. */
function read(url: string): SourceLines | null {
  try {
    return JSON.parse(readFileSync(fileURLToPath(url) + TABLE, 'utf8')) as SourceLines
  } catch {
    return null
  }
}
