// The first module of each program and thread of a bundle: stack traces name lines of the sources. What it needs it reads when a trace is asked
// for, so that a start costs nothing.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type SourceLines, sourceFrame, TABLE } from './source-lines.ts'

const tables = new Map<string, SourceLines | null>()

Error.prepareStackTrace = (error, frames) =>
  [headOf(error), ...frames.map((frame) => `    at ${sourceFrame(String(frame), tableOf)}`)].join('\n')

/** As V8 begins a trace. */
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

/** A trace must never fail, whatever is missing. */
function read(url: string): SourceLines | null {
  try {
    return JSON.parse(readFileSync(fileURLToPath(url) + TABLE, 'utf8')) as SourceLines
  } catch {
    return null
  }
}
