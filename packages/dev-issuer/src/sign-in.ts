import type Provider from 'oidc-provider'
import type { Person } from './people.ts'
import { DEFAULT_SCOPE } from './provider.ts'

type Middleware = Parameters<Provider['use']>[0]
type Context = Parameters<Middleware>[0]

/**
 * Signs in without a password: as the person named by `login_hint`, or as the one chosen on a small page.
 *
 * Every authorization request signs in anew. With its earlier session cookie, a browser that tries out two people would keep the first one, so
 * the cookie of an earlier sign-in is hidden from the provider.
 */
export function signIn(provider: Provider, people: ReadonlyMap<string, Person>): Middleware {
  return async (ctx, next) => {
    if (ctx.path === '/auth' || ctx.path.startsWith('/auth/')) forgetEarlierSignIn(ctx)
    if (ctx.path === '/auth') completeRequest(ctx)
    const uid = /^\/interaction\/([\w-]+)$/.exec(ctx.path)?.[1]
    if (uid === undefined) return next()

    const { params } = await provider.interactionDetails(ctx.req, ctx.res)
    const accountId = people.has(String(params['login_hint'])) ? String(params['login_hint']) : String(ctx.query['person'] ?? '')
    if (!people.has(accountId)) {
      ctx.type = 'html'
      ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
      ctx.body = choicePage(uid, [...people.values()])
      return
    }
    await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId } }, { mergeWithLastSubmission: false })
    ctx.respond = false
  }
}

function forgetEarlierSignIn(ctx: Context): void {
  const cookies = (ctx.req.headers.cookie ?? '').split('; ')
  ctx.req.headers.cookie = cookies.filter((cookie) => !/^_session(\.|=|$)/.test(cookie)).join('; ')
}

/**
 * Completes an authorization request. Drops `prompt`, since there is nothing to consent to, and adds a default scope, because without a scope the
 * provider would issue a token that is not a JWT.
 */
function completeRequest(ctx: Context): void {
  const { prompt: _, ...query } = ctx.query
  ctx.query = { scope: DEFAULT_SCOPE, ...query }
}

function choicePage(uid: string, people: readonly Person[]): string {
  const choices = people.map(({ id, name = id, wsp }) => {
    const memberships = wsp.map((entry) => `${entry.role} of ${entry.id}`).join(', ')
    return `<li><a href="/interaction/${uid}?person=${encodeURIComponent(id)}">${escapeHtml(name)}</a> <small>${escapeHtml(memberships)}</small></li>`
  })
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Who are you?</title>
<style>body{font:16px/1.6 system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem}small{color:#666}</style>
<h1>Who are you?</h1><p>This issuer is for trying out. Pick a person; there is no password.</p><ul>${choices.join('')}</ul></html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
