// Not from the package's entry: the page signs in before it loads the rest of the client.
import { NeedsSignIn } from '@docrelay/client/errors'
import { inTime } from '@docrelay/client/in-time'
import type { GrantedTokens, PendingSignIn } from './authorization.ts'
import { type ConsoleConfig, isLoopback } from './config.ts'
import { readClaims, type TokenClaims } from './token-claims.ts'

/** What signing in needs of the browser. */
export interface SignInPlace {
  /** ms since 1970. */
  readonly now: () => number
  /** Calls `run` once after `ms`; the returned function cancels the call. */
  readonly after: (ms: number, run: () => void) => () => void
  /** Of the tab alone: a tab is a person. */
  readonly storage: Storage
  /** The address of the page without query and hash, to which the issuer sends people back. */
  readonly redirectUri: string
  readonly leaveTo: (address: string) => void
}

const REFRESH = 'docrelay.refresh-token'
const PENDING = 'docrelay.signing-in'
/** A token that ends sooner is not worth a request. */
const SPARE_MS = 10_000
/** A renewal that takes longer is waited for no more, and the next call begins another one. [WS-67] */
const RENEWAL_MS = 30_000
/** How long a sign-out waits for the issuer, in ms. */
const REVOCATION_MS = 3_000

interface Pending extends PendingSignIn {
  /** The hash that the person wanted to go to. */
  readonly backTo: string
  /** Whether the way leads through another window, so that the page with its unsaved words stays. */
  readonly window: boolean
}

/** Who is signed in in this tab. The access token is in memory alone, the refresh token in the storage of the tab. */
export class SignIn {
  readonly #config: ConsoleConfig
  readonly #place: SignInPlace
  #tokens: GrantedTokens | null = null
  #endsAtMs: number | null = null
  #renewal: Promise<string> | null = null
  /** The token that the client has. */
  #given: string | null = null

  constructor(config: ConsoleConfig, place: SignInPlace) {
    this.#config = config
    this.#place = place
  }

  /** What the access token says, and the name of the ID token; `null` when nobody is signed in. */
  get claims(): { readonly token: TokenClaims; readonly idName: string | null } | null {
    if (this.#tokens === null) return null
    const id = this.#tokens.idToken === null ? null : readClaims(this.#tokens.idToken)
    const token = readClaims(this.#tokens.accessToken) ?? id
    return token === null ? null : { token, idName: id?.name ?? null }
  }

  /** Whether a person may be named in advance: only where the issuer is of this machine, which asks for no password. */
  get mayNamePerson(): boolean {
    return isLoopback(this.#config.issuer)
  }

  /**
   * The callback of the relay's client: with `fresh` another token than the one that it got last. Throws `NeedsSignIn` when only the person
   * can help.
   */
  async accessToken({ fresh }: { readonly fresh: boolean }): Promise<string> {
    const over = this.#endsAtMs !== null && this.#endsAtMs - SPARE_MS < this.#place.now()
    const kept = this.#tokens?.accessToken
    if (kept !== undefined && !over && (!fresh || kept !== this.#given)) {
      this.#given = kept
      return kept
    }
    const late = (): Error => new Error(`the issuer gave no token within ${RENEWAL_MS / 1000} s`)
    this.#renewal ??= inTime(this.#renew(), RENEWAL_MS, this.#place.after, late).finally(() => {
      this.#renewal = null
    })
    this.#given = await this.#renewal
    return this.#given
  }

  /** Signs in without the person, by what the tab kept. Returns whether that worked. */
  async resume(): Promise<boolean> {
    if (this.#place.storage.getItem(REFRESH) === null) return false
    try {
      await this.accessToken({ fresh: true })
      return true
    } catch (error) {
      if (error instanceof NeedsSignIn) return false
      throw error
    }
  }

  /** Leaves to the issuer; the person comes back to `backTo`. */
  async leave({ backTo, person }: { readonly backTo: string; readonly person: string | null }): Promise<void> {
    this.#place.leaveTo(await this.addressFor({ backTo, person, window: false }))
  }

  /** Returns the address at which the person signs in, and remembers the way back. */
  async addressFor({
    backTo,
    person,
    window,
  }: {
    readonly backTo: string
    readonly person: string | null
    readonly window: boolean
  }): Promise<string> {
    const { signInAddress } = await import('./authorization.ts')
    const loginHint = this.mayNamePerson ? person : null
    const { address, pending } = await signInAddress(this.#config, { redirectUri: this.#place.redirectUri, loginHint })
    this.#place.storage.setItem(PENDING, JSON.stringify({ ...pending, backTo, window } satisfies Pending))
    return address
  }

  /** What is remembered of a way to the issuer that began in this tab and has this state. */
  pendingFor(state: string | null): { readonly backTo: string; readonly window: boolean } | null {
    const pending = this.#pending()
    return pending !== null && pending.state === state ? pending : null
  }

  /** Takes what the issuer sent the person back with. `sub`: only this person may come back. */
  async comeBack(returned: URL, sub: string | null = null): Promise<void> {
    const pending = this.#pending()
    this.#place.storage.removeItem(PENDING)
    if (pending === null) throw new Error('This page did not begin the sign-in.')
    const { redeemCode } = await import('./authorization.ts')
    const tokens = await redeemCode(this.#config, { returned, redirectUri: this.#place.redirectUri, pending })
    if (sub !== null && readClaims(tokens.accessToken)?.sub !== sub) throw new AnotherPerson()
    this.#take(tokens)
  }

  /** Forgets everything, here and at the issuer. */
  async end(): Promise<void> {
    const refreshToken = this.#place.storage.getItem(REFRESH)
    this.#tokens = null
    this.#place.storage.clear()
    if (refreshToken === null) return
    const revoke = async (): Promise<void> => (await import('./authorization.ts')).revokeToken(this.#config, refreshToken)
    // The page is signed out whether or not the issuer hears of it.
    await inTime(revoke(), REVOCATION_MS, this.#place.after, () => new Error()).catch(() => {})
  }

  async #renew(): Promise<string> {
    const refreshToken = this.#place.storage.getItem(REFRESH)
    if (refreshToken === null) throw new NeedsSignIn()
    const { GrantEnded, renewTokens } = await import('./authorization.ts')
    // An answer after another renewal, a sign-in or the end of the session is older than what there is now.
    const isLate = (): boolean => this.#place.storage.getItem(REFRESH) !== refreshToken
    try {
      const tokens = await renewTokens(this.#config, refreshToken)
      if (isLate()) return this.#present()
      this.#take({ ...tokens, idToken: tokens.idToken ?? this.#tokens?.idToken ?? null })
      return tokens.accessToken
    } catch (error) {
      if (!(error instanceof GrantEnded)) throw error
      if (isLate()) return this.#present()
      this.#place.storage.removeItem(REFRESH)
      throw new NeedsSignIn()
    }
  }

  #present(): string {
    if (this.#tokens === null) throw new NeedsSignIn()
    return this.#tokens.accessToken
  }

  #take(tokens: GrantedTokens): void {
    this.#tokens = tokens
    this.#endsAtMs = tokens.expiresInSec === null ? null : this.#place.now() + tokens.expiresInSec * 1000
    // An issuer that gives no new refresh token lets the one before be used again.
    if (tokens.refreshToken !== null) this.#place.storage.setItem(REFRESH, tokens.refreshToken)
  }

  #pending(): Pending | null {
    const text = this.#place.storage.getItem(PENDING)
    return text === null ? null : (JSON.parse(text) as Pending)
  }
}

/** Somebody else signed in than the person whose words are in the page. */
export class AnotherPerson extends Error {}
