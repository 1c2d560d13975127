/** What this file needs of Trusted Types, which not every browser has and TypeScript does not describe. */
export interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML: (html: string) => string }): { createHTML(html: string): string }
}

/**
 * Reads HTML of a stored page into elements that belong to no window: scripts do not run, and images are not loaded.
 *
 * The page's policy asks for a named policy wherever text becomes HTML. `docrelay-html` is that name; only this function uses it, and what
 * it returns is read by a schema and never put into the page.
 */
export class InertHtml {
  readonly #policy: { createHTML(html: string): string } | null

  constructor({ trustedTypes }: { readonly trustedTypes?: TrustedTypes }) {
    this.#policy = trustedTypes?.createPolicy('docrelay-html', { createHTML: (html) => html }) ?? null
  }

  read(html: string): HTMLElement {
    return new DOMParser().parseFromString(this.#policy?.createHTML(html) ?? html, 'text/html').body
  }
}
