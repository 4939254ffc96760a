/** Where bodies of requests to providers and gateways hold credentials: a table. `docs/proxy.md` has it for people. */

/**
 * What is masked of a value: all of it, or within it what has the name of a credential or the form of one in a header, or what patterns
 * match in its texts. `inputs` are texts of which the conversation may be known.
 */
export type Place = "all" | "named" | "texts" | "inputs" | { readonly [name: string]: Place }

/** The name of every element of an array, and of every field that the table does not name. */
export const each = "*"

/** Those of a server of the Model Context Protocol, as OpenAI, xAI and Groq take it, and the AI SDK passes it on. */
const ofServer = { authorization: "all", headers: "named", extra_headers: "named" } as const

/** Vertex AI, of a search that is not Google's. */
const ofRetrieval = { apiAuth: { apiKeyConfig: { apiKeyString: "all" } } } as const

/** Of the definition of a tool. */
export const ofTool = {
  ...ofServer,
  args: ofServer,
  // Gemini.
  mcpServers: "named",
  mcp_servers: "named",
  retrieval: { externalApi: ofRetrieval }
} as const

/** Of a body: its fields, and those below them. */
export const ofBody: Place = {
  tools: { [each]: ofTool },
  // Anthropic.
  mcp_servers: "named",
  // LiteLLM and other gateways, which take the keys of providers.
  api_key: "all",
  apiKey: "all",
  azure_ad_token: "all",
  aws_secret_access_key: "all",
  aws_session_token: "all",
  vertex_credentials: "all",
  headers: "named",
  extra_headers: "named",
  litellm_params: "named",
  model_list: "named",
  fallbacks: "named",
  user_config: "named",
  customer_credentials: "all",
  // Vercel.
  providerOptions: { gateway: { byok: "named" } }
}

/** Of the body of Create Event: what of it may be any text. */
export const ofEvent: Place = {
  properties: { inputs: "inputs", output: "texts" },
  ...{ session: "texts", agent: "texts", agent_version: "texts", person: "texts", model: "texts" },
  ...{ metadata: "texts", recorded: "texts" }
}

/** Of an object, the values but not their names. */
export const ofValues: Place = { [each]: "texts" }
