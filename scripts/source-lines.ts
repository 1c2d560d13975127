import { SourceMap, type SourceMapPayload } from 'node:module'

/** The source lines of a bundled file. */
export interface SourceLines {
  /** Paths of source files, relative to the repository. */
  readonly sources: readonly string[]
  /** Two numbers for each line of the file: the index of its source in `sources`, and the line there, from 1. -1 and 0 for a line of the bundler. */
  readonly lines: readonly number[]
}

/** The line table of a bundled file is beside it; its name has this suffix. */
export const TABLE = '.lines.json'

/**
 * Returns the source of the first statement of each line. Such a table is a small part of a source map and is read only for a stack trace; with
 * `--enable-source-maps` Node reads the maps of all files in every thread.
 *
 * @param code the file
 * @param pathOf returns the path to show for a source of the map
 */
export function sourceLines(code: string, map: SourceMapPayload, pathOf: (source: string) => string): SourceLines {
  const reader = new SourceMap(map)
  const places = new Map<string, number>()
  const lines = code.split('\n').flatMap((line, at) => {
    const entry = reader.findEntry(at, line.search(/\S|$/))
    // For a line without a mapping, Node returns one of an earlier line.
    if (!('originalSource' in entry) || entry.generatedLine !== at) return [-1, 0]
    const path = pathOf(entry.originalSource)
    const place = places.get(path) ?? places.size
    places.set(path, place)
    return [place, entry.originalLine + 1]
  })
  return { sources: [...places.keys()], lines }
}

/**
 * Returns a frame of a stack trace with the source file and line in place of the bundle's; unchanged when these are not known.
 *
 * @param tableOf returns the table of a bundled file, or `null` when it has none
 */
export function sourceFrame(frame: string, tableOf: (url: string) => SourceLines | null): string {
  return frame.replace(/(file:\/\/[^\s()]+\.mjs):(\d+):\d+/, (place, url: string, line: string) => {
    const table = tableOf(url)
    const [source = -1, sourceLine = 0] = table?.lines.slice(2 * (Number(line) - 1), 2 * Number(line)) ?? []
    const path = table?.sources[source]
    return path === undefined ? place : `${path}:${sourceLine}`
  })
}
