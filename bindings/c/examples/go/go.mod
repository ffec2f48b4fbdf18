module example.com/crawl

go 1.17
