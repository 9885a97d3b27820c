-- Words of titles, and the account as one more: a search reads the rows of its own account only. Most threads have no title.
CREATE INDEX CONCURRENTLY "threads_title_words" ON "threads" USING gin ((to_tsvector('simple', "title") || array_to_tsvector(ARRAY["account_id"]))) WHERE "title" IS NOT NULL;
