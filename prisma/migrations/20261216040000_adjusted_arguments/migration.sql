SET lock_timeout = '5s';

-- What was made of arguments that a model did not write as the schema of the tool has them. Null: nothing.
ALTER TABLE "tool_calls" ADD COLUMN "adjusted" JSON;

RESET lock_timeout;
