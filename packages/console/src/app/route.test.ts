import { describe, expect, it } from 'vitest'
import { formatRoute, parseRoute, type Route } from './route.ts'

describe('the address of a view', () => {
  const routes: readonly Route[] = [
    { view: 'documents' },
    { view: 'usage' },
    { view: 'share', token: 'a b/c' },
    { view: 'document', id: 'weekly-minutes', pageId: null, panel: null },
    { view: 'document', id: 'a/b ?#%', pageId: 'page 1', panel: 'history' },
  ]
  it.each(routes)('parses to the same route again: %j', (route) => {
    expect(parseRoute(formatRoute(route))).toEqual(route)
  })

  it.each(['', '#', '#nothing/here', '#doc', '#doc/'])('%j is the list of documents', (hash) => {
    expect(parseRoute(hash)).toEqual({ view: 'documents' })
  })

  it.each([`#${'aZ0-_'.repeat(8)}aaa`, `#share=${'aZ0-_'.repeat(8)}aaa`])('[SHARE-2] %s is a share link', (hash) => {
    expect(parseRoute(hash)).toEqual({ view: 'share', token: `${'aZ0-_'.repeat(8)}aaa` })
  })

  it('with 42 characters is not a share link and leads to the list of documents', () => {
    expect(parseRoute(`#${'a'.repeat(42)}`)).toEqual({ view: 'documents' })
  })

  it('with a broken escape is used as it is', () => {
    expect(parseRoute('#doc/%zz')).toEqual({ view: 'document', id: '%zz', pageId: null, panel: null })
  })
})
