# The same with curl, with names for the session and the agent. The question must not contain quotes.
curl -sS "$OPENAI_BASE_URL/chat/completions" \
  -H "Authorization: Bearer $OPENAI_API_KEY" -H "Content-Type: application/json" \
  -H "X-Tachograph-Session: curl" -H "X-Tachograph-Agent: shell" \
  -d "{\"model\": \"gpt-5-mini\", \"messages\": [{\"role\": \"user\", \"content\": \"${1:-Hello}\"}]}"
