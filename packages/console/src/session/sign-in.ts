// Imported from a module of the client, not from its entry: the page signs in before it loads the rest of the client.
import { NeedsSignIn } from '@docrelay/client/errors'
import { inTime } from '@docrelay/client/in-time'
import type { GrantedTokens, PendingSignIn } from './authorization.ts'
import { type ConsoleConfig, isLoopback } from './config.ts'
import { readClaims, type TokenClaims } from './token-claims.ts'

/** The parts of the browser that the sign-in needs. */
export interface SignInPlace {
  /** ms since 1970. */
  readonly now: () => number
  /** Calls `run` once after `ms`; the returned function cancels the call. */
  readonly after: (ms: number, run: () => void) => () => void
  /** The session storage, since each tab has its own person. */
  readonly storage: Storage
  /** The address of the page without query and hash, to which the issuer redirects. */
  readonly redirectUri: string
  readonly leaveTo: (address: string) => void
}

const REFRESH = 'docrelay.refresh-token'
const PENDING = 'docrelay.signing-in'
/** An access token that expires within this time is renewed first. */
const SPARE_MS = 10_000
/** After this time a renewal is abandoned, and the next call begins another one. [WS-67] */
const RENEWAL_MS = 30_000
/** How long a sign-out waits for the issuer, in ms. */
const REVOCATION_MS = 3_000

interface Pending extends PendingSignIn {
  /** The hash that the person wanted to go to. */
  readonly backTo: string
  /** Whether the sign-in runs in another window, so that the page with its unsaved words stays. */
  readonly window: boolean
}

/** The sign-in of this tab. The access token is only in memory, the refresh token in the storage of the tab. */
export class SignIn {
  readonly #config: ConsoleConfig
  readonly #place: SignInPlace
  #tokens: GrantedTokens | null = null
  #endsAtMs: number | null = null
  #renewal: Promise<string> | null = null
  /** The last token that the client got. */
  #given: string | null = null

  constructor(config: ConsoleConfig, place: SignInPlace) {
    this.#config = config
    this.#place = place
  }

  /** The claims of the access token, and the name from the ID token; `null` when nobody is signed in. */
  get claims(): { readonly token: TokenClaims; readonly idName: string | null } | null {
    if (this.#tokens === null) return null
    const id = this.#tokens.idToken === null ? null : readClaims(this.#tokens.idToken)
    const token = readClaims(this.#tokens.accessToken) ?? id
    return token === null ? null : { token, idName: id?.name ?? null }
  }

  /** Whether the page may name the person in advance: only with an issuer on this machine, which asks for no password. */
  get mayNamePerson(): boolean {
    return isLoopback(this.#config.issuer)
  }

  /**
   * The token callback of the relay's client. With `fresh`, returns another token than the one it returned last. Throws `NeedsSignIn` when only
   * the person can help.
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

  /** Signs in by the stored refresh token, without the person. Returns whether that worked. */
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

  /** Redirects the page to the issuer. Afterwards the person comes back to `backTo`. */
  async leave({ backTo, person }: { readonly backTo: string; readonly person: string | null }): Promise<void> {
    this.#place.leaveTo(await this.addressFor({ backTo, person, window: false }))
  }

  /** Returns the address at which the person signs in, and stores what the way back needs. */
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

  /** Returns what was stored for a sign-in of this tab with this state; `null` when there is none. */
  pendingFor(state: string | null): { readonly backTo: string; readonly window: boolean } | null {
    const pending = this.#pending()
    return pending !== null && pending.state === state ? pending : null
  }

  /** Exchanges the issuer's answer for tokens. With `sub`, rejects another person. */
  async comeBack(returned: URL, sub: string | null = null): Promise<void> {
    const pending = this.#pending()
    this.#place.storage.removeItem(PENDING)
    if (pending === null) throw new Error('This page did not begin the sign-in.')
    const { redeemCode } = await import('./authorization.ts')
    const tokens = await redeemCode(this.#config, { returned, redirectUri: this.#place.redirectUri, pending })
    if (sub !== null && readClaims(tokens.accessToken)?.sub !== sub) throw new AnotherPerson()
    this.#take(tokens)
  }

  /** Removes the tokens here, and revokes them at the issuer. */
  async end(): Promise<void> {
    const refreshToken = this.#place.storage.getItem(REFRESH)
    this.#tokens = null
    this.#place.storage.clear()
    if (refreshToken === null) return
    const revoke = async (): Promise<void> => (await import('./authorization.ts')).revokeToken(this.#config, refreshToken)
    // The page is signed out whether or not the issuer answers.
    await inTime(revoke(), REVOCATION_MS, this.#place.after, () => new Error()).catch(() => {})
  }

  async #renew(): Promise<string> {
    const refreshToken = this.#place.storage.getItem(REFRESH)
    if (refreshToken === null) throw new NeedsSignIn()
    const { GrantEnded, renewTokens } = await import('./authorization.ts')
    // An answer is late when another renewal, a sign-in or a sign-out has changed the stored token since.
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
    // Without a new refresh token, the old one stays valid.
    if (tokens.refreshToken !== null) this.#place.storage.setItem(REFRESH, tokens.refreshToken)
  }

  #pending(): Pending | null {
    const text = this.#place.storage.getItem(PENDING)
    return text === null ? null : (JSON.parse(text) as Pending)
  }
}

/** Thrown when another person signed in than the one whose words are in the page. */
export class AnotherPerson extends Error {}
