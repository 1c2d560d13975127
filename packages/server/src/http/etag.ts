/** Whether an If-None-Match names this ETag; weak ones compare equal, as a read allows. */
export function namesEtag(header: string, etag: string): boolean {
  if (header.trim() === '*') return true
  return header.split(',').some((entry) => entry.trim().replace(/^W\//, '') === etag)
}
