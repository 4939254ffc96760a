/** Markdown as elements, never as HTML text: what is HTML in it is shown as it is written. Line breaks stay. */
import { Lexer, type Token, type Tokens } from "marked"
import { type ComponentChildren, createContext, createElement, type VNode } from "preact"
import { useContext, useMemo } from "preact/hooks"
import { plain } from "./Hidden.ts"
import { safeHref, safeImage } from "./Links.ts"
import { Plain } from "./Plain.tsx"

/** Deeper nesting is shown as it was sent. */
const maxDepth = 20

/**
 * What is known of a text that is a page of the documentation, and not what somebody sent: its headings are those of the page, and a line ends
 * where its paragraph does.
 */
export interface Reference {
  /** Where a link leads; undefined where nothing is served that it names. */
  readonly linkOf: (href: string) => string | undefined
  /** The id of a heading's element. */
  readonly idOf: (heading: string) => string
}

const ReferenceContext = createContext<Reference | undefined>(undefined)

const ReferenceLink = ({ children, to }: { readonly to: string | undefined; readonly children: ComponentChildren }) => {
  if (to === undefined) return <span>{children}</span>
  return /^https?:/.test(to) ? <SafeLink href={to}>{children}</SafeLink> : <a href={to}>{children}</a>
}

const Link = (props: { readonly href: string; readonly children: ComponentChildren }) => {
  const reference = useContext(ReferenceContext)
  if (reference === undefined) return <SafeLink {...props} />
  return <ReferenceLink to={reference.linkOf(props.href)}>{props.children}</ReferenceLink>
}

const SafeLink = ({ children, href }: { readonly href: string; readonly children: ComponentChildren }) => {
  const safe = safeHref(href)
  if (safe === undefined) {
    return (
      <span>
        {children} <Plain as="span" class="address" text={href} />
      </span>
    )
  }
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer" title={plain(safe)}>
      {children}
    </a>
  )
}

/** Images from elsewhere are named, and not loaded: loading one tells its server who looks. */
const Image = ({ alt, href }: { readonly alt: string; readonly href: string }) => {
  const reference = useContext(ReferenceContext)
  const src = safeImage(href)
  // Those of the documentation weigh more than the rest of the pages: they are not served.
  if (reference !== undefined) return <span class="picture">Picture, in the repository: {alt}</span>
  if (src !== undefined) return <img src={src} alt={plain(alt)} />
  return (
    <span class="media">
      Image
      {alt !== "" && (
        <>
          {" "}
          “<Plain text={alt} />”
        </>
      )}
      , not loaded:{" "}
      <Link href={href}>
        <Plain text={href.slice(0, 200)} />
      </Link>
    </span>
  )
}

const Task = ({ token: { checked } }: { readonly token: Tokens.Checkbox }) => (
  <input type="checkbox" checked={checked} disabled aria-label="Task" />
)

const inline = (tokens: ReadonlyArray<Token> | undefined, depth: number): ReadonlyArray<VNode | string> =>
  (tokens ?? []).map((token) => {
    if (depth > maxDepth) return <Plain text={token.raw} />
    const within = () => inline((token as Tokens.Generic).tokens, depth + 1)
    switch (token.type) {
      case "strong":
        return <strong>{within()}</strong>
      case "em":
        return <em>{within()}</em>
      case "del":
        return <del>{within()}</del>
      case "codespan":
        return <Plain as="code" text={(token as Tokens.Codespan).text} />
      case "br":
        return <br />
      case "link":
        return <Link href={(token as Tokens.Link).href}>{within()}</Link>
      case "image":
        return <Image href={(token as Tokens.Image).href} alt={(token as Tokens.Image).text} />
      case "checkbox":
        return <Task token={token as Tokens.Checkbox} />
      case "escape":
        return <Plain text={(token as Tokens.Escape).text} />
      case "text":
        return (token as Tokens.Text).tokens === undefined ? (
          <Plain text={(token as Tokens.Text).text} />
        ) : (
          <>{within()}</>
        )
      default:
        return <Plain text={token.raw} />
    }
  })

const cells = (row: ReadonlyArray<Tokens.TableCell>, depth: number, isHead: boolean) => (
  <tr>
    {row.map(({ align, tokens }) =>
      // A head without words is none.
      isHead && tokens.length > 0 ? (
        <th scope="col" align={align ?? "left"}>
          {inline(tokens, depth)}
        </th>
      ) : (
        <td align={align ?? "left"}>{inline(tokens, depth)}</td>
      )
    )}
  </tr>
)

const listOf = (list: Tokens.List, depth: number) => {
  const items = list.items.map((item) => <li>{blocks(item.tokens, depth + 1)}</li>)
  return list.ordered ? <ol start={list.start === "" ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>
}

const Heading = ({
  depth,
  token: { depth: level, text, tokens }
}: {
  readonly token: Tokens.Heading
  readonly depth: number
}) => {
  const reference = useContext(ReferenceContext)
  const children = inline(tokens, depth)
  // A page has headings of its own above those of what was sent.
  if (reference === undefined) return <p class={`heading h${level}`}>{children}</p>
  return createElement(`h${level}`, { id: reference.idOf(text) }, children)
}

const block = (token: Token, depth: number): VNode | string | null => {
  if (depth > maxDepth) return <Plain text={token.raw} />
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "heading":
      return <Heading token={token as Tokens.Heading} depth={depth} />
    case "paragraph":
      return <p>{inline((token as Tokens.Paragraph).tokens, depth)}</p>
    case "text":
      return <>{inline((token as Tokens.Text).tokens ?? [token], depth)}</>
    case "code":
      return (
        <pre tabIndex={0}>
          <Plain as="code" text={(token as Tokens.Code).text} />
        </pre>
      )
    case "blockquote":
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens, depth + 1)}</blockquote>
    case "list":
      return listOf(token as Tokens.List, depth)
    case "table": {
      const { header, rows } = token as Tokens.Table
      return (
        <div class="table" tabIndex={0} role="group" aria-label="Table">
          <table>
            <thead>{cells(header, depth, true)}</thead>
            <tbody>{rows.map((row) => cells(row, depth, false))}</tbody>
          </table>
        </div>
      )
    }
    case "checkbox":
      return <Task token={token as Tokens.Checkbox} />
    case "hr":
      return <hr />
    default:
      return (
        <p class="as-sent">
          <Plain text={token.raw} />
        </p>
      )
  }
}

const blocks = (tokens: ReadonlyArray<Token>, depth: number): ReadonlyArray<VNode | string | null> =>
  tokens.map((token) => block(token, depth))

export const Markdown = ({ reference, text }: { readonly text: string; readonly reference?: Reference }) => {
  const breaks = reference === undefined
  const tokens = useMemo(() => {
    try {
      return new Lexer({ gfm: true, breaks }).lex(text)
    } catch {
      return undefined
    }
  }, [text, breaks])
  if (tokens === undefined) return <Plain text={text} />
  return (
    <ReferenceContext.Provider value={reference}>
      <div class="markdown">{blocks(tokens, 0)}</div>
    </ReferenceContext.Provider>
  )
}
