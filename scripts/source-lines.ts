import { SourceMap, type SourceMapPayload } from 'node:module'

/** Where the lines of a file of a bundle come from. */
export interface SourceLines {
  /** Paths of source files, relative to the repository. */
  readonly sources: readonly string[]
  /** For each line of the file the place of its source in `sources` and the line there, from 1; -1 and 0 for a line of the bundler. */
  readonly lines: readonly number[]
}

/** A line table beside a file of a bundle has its name and this. */
export const TABLE = '.lines.json'

/**
 * Returns where the first statement of each line comes from. Such a table is a small part of a source map and is read only for a stack trace;
 * with `--enable-source-maps` Node reads the maps of all files in every thread.
 *
 * @param code the file
 * @param pathOf makes a source of the map the path to be shown
 */
export function sourceLines(code: string, map: SourceMapPayload, pathOf: (source: string) => string): SourceLines {
  const reader = new SourceMap(map)
  const places = new Map<string, number>()
  const lines = code.split('\n').flatMap((line, at) => {
    const entry = reader.findEntry(at, line.search(/\S|$/))
    // Where a line has no mapping, Node answers with one of an earlier line.
    if (!('originalSource' in entry) || entry.generatedLine !== at) return [-1, 0]
    const path = pathOf(entry.originalSource)
    const place = places.get(path) ?? places.size
    places.set(path, place)
    return [place, entry.originalLine + 1]
  })
  return { sources: [...places.keys()], lines }
}

/**
 * Returns a frame of a stack trace with the source file and its line in the place of those of the bundle; unchanged when they are not known.
 *
 * @param tableOf the table of a file of the bundle; `null` when it has none
 */
export function sourceFrame(frame: string, tableOf: (url: string) => SourceLines | null): string {
  return frame.replace(/(file:\/\/[^\s()]+\.mjs):(\d+):\d+/, (place, url: string, line: string) => {
    const table = tableOf(url)
    const [source = -1, sourceLine = 0] = table?.lines.slice(2 * (Number(line) - 1), 2 * Number(line)) ?? []
    const path = table?.sources[source]
    return path === undefined ? place : `${path}:${sourceLine}`
  })
}
