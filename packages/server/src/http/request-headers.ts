import type { IncomingMessage } from 'node:http'

/**
 * Returns the value of a request header; `name` is in lower case. Joins repeated values with a comma, also where Node would keep only the first:
 * two credentials must not count as one.
 */
export function headerOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string | undefined {
  let value: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] as string
    if (sent.length !== name.length || sent.toLowerCase() !== name) continue
    const more = rawHeaders[at + 1] as string
    value = value === undefined ? more : `${value}, ${more}`
  }
  return value
}
