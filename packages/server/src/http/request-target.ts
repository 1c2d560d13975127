/** Returns the path of a request target as it was sent. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const path = start === -1 ? '/' : url.slice(start)
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

/** Returns the query members of a request target. */
export function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf('?')
  if (mark === -1) return new URLSearchParams()
  const end = url.indexOf('#', mark)
  return new URLSearchParams(url.slice(mark + 1, end === -1 ? url.length : end))
}

/** Whether a request target names a path. Backslashes, which some parsers take for slashes, are allowed in the query only. */
export function isReadableTarget(url: string): boolean {
  const isAbsolute = url.startsWith('http://') || url.startsWith('https://')
  if (!url.startsWith('/') && !(isAbsolute && URL.canParse(url))) return false
  const backslash = url.indexOf('\\')
  return backslash === -1 || url.slice(0, backslash).includes('?')
}

const PLAIN_HOST = /^(?:[a-z0-9._-]+(?::(?:[1-9]\d{0,3}|[1-5]\d{4}))?)?$/

/** Whether a `Host` can be the host of a URL. An empty one passes; the app refuses it where it needs a host. */
export function isReadableHost(host: string): boolean {
  if (PLAIN_HOST.test(host)) return true
  if (!URL.canParse(`http://${host}/`)) return false
  const { hostname } = new URL(`http://${host}/`)
  return hostname.length === host.length || hostname === (host.includes(':') ? host.replace(/:\d+$/, '') : host).toLowerCase()
}
